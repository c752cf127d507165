import type { Browser, Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpSink, type SinkReply, startHttpSink } from "../support/http-sink";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

const patience = { timeout: 60_000 };
const hostile = `<!doctype html><script>alert(document.domain)</script><img src=x onerror=alert(1)>`;

let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
let sink: HttpSink;
/** What the receiver answers with now. */
let answer: SinkReply = 204;
let secret: string;
let address: string;

beforeAll(async () => {
  browser = await openBrowser();
  sink = await startHttpSink(() => answer);
  posthorn = await startPosthorn({ SMTP_URL: "capture:", POSTHORN_EGRESS_ALLOW: "127.0.0.0/8" });
  profile = await openProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  page = await profile.context.newPage();
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
  await sink?.close();
});

const expectNothingOdd = () => {
  expect(profile.dialogs).toEqual([]);
  expect(profile.foreign).toEqual([]);
  expect(profile.errors).toEqual([]);
};
const dialog = () => page.getByRole("dialog");
const question = () => page.getByRole("alertdialog");
const events = () => page.getByRole("table", { name: "Events of the webhook" }).getByRole("row");
const more = async (name: string) => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name }).click();
};
const openEndpoint = async () => {
  await page.goto(address);
  await page.getByRole("heading", { name: "Events", exact: true }).waitFor(patience);
};

async function storeSecret(): Promise<string> {
  await dialog().getByRole("button", { name: "Copy: Signing secret" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText()), patience).toMatch(/^whsec_/);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText("nothing"));
  await dialog().getByRole("button", { name: "I have stored it" }).click();
  await dialog().waitFor({ state: "detached" });
  return copied;
}

test("an endpoint is added where it may be called, and its secret shown once", async () => {
  await page.goto(`${posthorn.url}/console/webhooks`);
  await page.getByRole("heading", { name: "No webhook yet" }).waitFor(patience);
  await expectNoBarriers(page);
  await takePictures(page, "webhooks-empty");
  await page.getByRole("button", { name: "Add webhook" }).first().click();
  await dialog().getByLabel("Address").fill("https://10.1.2.3/hooks");
  await dialog().getByRole("button", { name: "Add webhook" }).click();
  await dialog().getByText("public Internet").waitFor(patience);
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
  await expectNoBarriers(page);
  await takePictures(page, "webhook-add");
  await dialog().getByLabel("Address").fill(`http://127.0.0.1:${sink.port}/hooks`);
  await dialog().getByRole("button", { name: "Add webhook" }).click();
  secret = await storeSecret();
  expect(secret).toMatch(/^whsec_/);
  expect(await page.content()).not.toContain(secret);
  await page.getByRole("link", { name: /127\.0\.0\.1/ }).click();
  await page.getByRole("heading", { name: "No event yet" }).waitFor(patience);
  address = page.url();
  await page.reload();
  expect(await page.content()).not.toContain(secret);
  expectNothingOdd();
});

test("a test event is sent, and its answer seen", async () => {
  answer = { status: 200, body: hostile, headers: { "content-type": "text/html" } };
  await page.getByRole("button", { name: "Send test event" }).click();
  await dialog().getByRole("button", { name: "Send", exact: true }).click();
  await dialog().getByText("It answered").waitFor(patience);
  expect(await dialog().locator("pre").textContent()).toContain(hostile);
  await expectNoBarriers(page);
  await takePictures(page, "webhook-test");
  await dialog().getByRole("link", { name: "All that was sent" }).click();
  await page.getByRole("heading", { name: "It was taken" }).waitFor(patience);
  expect(await page.getByText(hostile).count()).toBe(1);
  await page.getByText("webhook-signature: v1,").waitFor(patience);
  const [received] = sink.received;
  expect(await page.locator("pre").last().textContent()).toBe(received?.body);
  await expectNoBarriers(page);
  await takePictures(page, "webhook-event");
  expectNothingOdd();
});

test("what becomes of a mail arrives signed, and is seen to have arrived", async () => {
  answer = 204;
  const before = sink.received.length;
  await openEndpoint();
  await posthorn.send({ to: "bounced@posthorn.test", subject: "Away", html: "x" });
  await sink.waitFor(before + 1);
  await events().filter({ hasText: "email.bounced" }).getByText("Taken").waitFor(patience);
  const call = sink.received.at(-1);
  const headers = call?.headers as Record<string, string>;
  expect(new Webhook(secret).verify(call?.body ?? "", headers)).toMatchObject({ type: "email.bounced" });
  await page.getByRole("combobox", { name: "Event", exact: true }).selectOption("email.bounced");
  await page.waitForURL(/type=email.bounced/);
  await expect.poll(() => events().count(), patience).toBe(2);
  expectNothingOdd();
});

test("an endpoint that fails says so, and when it is called again", async () => {
  answer = { status: 500, body: hostile };
  await openEndpoint();
  await posthorn.send({ to: "delivered@posthorn.test", subject: "Lost", html: "x" });
  await page.getByText("Failing", { exact: true }).first().waitFor(patience);
  await page.getByText("No call has succeeded since one failed").waitFor(patience);
  await events().filter({ hasText: "Waiting" }).getByText(/^in /).waitFor(patience);
  await expectNoBarriers(page);
  await takePictures(page, "webhook");
  await events().getByRole("link", { name: "email.delivered" }).first().click();
  await page.getByRole("heading", { name: /^Next call/ }).waitFor(patience);
  expect(await page.getByText(hostile).first().isVisible()).toBe(true);
  await page.goto(`${posthorn.url}/console/webhooks`);
  await page.getByText("Failing", { exact: true }).waitFor(patience);
  await expectNoBarriers(page);
  await takePictures(page, "webhooks");
  expectNothingOdd();
});

test("paused, it is called no more, and what waited is replayed after that", async () => {
  await openEndpoint();
  await page.getByRole("button", { name: "Pause" }).click();
  await question().getByText("1 that wait").waitFor(patience);
  await question().getByRole("button", { name: "Pause" }).click();
  await page.getByText("It is paused. Nothing is sent to it").waitFor(patience);
  expect(await page.getByRole("button", { name: "Send test event" }).isDisabled()).toBe(true);
  await page.getByRole("combobox", { name: "State", exact: true }).selectOption({ label: "Given up" });
  await expect.poll(() => events().count(), patience).toBe(2);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor(patience);

  answer = 204;
  const before = sink.received.length;
  await more("Replay a range");
  await dialog().getByLabel("Of which time?").selectOption({ label: "The last hour" });
  await expectNoBarriers(page);
  await takePictures(page, "webhook-replay");
  await dialog().getByRole("button", { name: "Count them" }).click();
  await dialog()
    .getByText(/^1 event would be sent again/)
    .waitFor(patience);
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route(/webhooks\.replayRange/, async (route) => {
    await held;
    await route.continue();
  });
  await dialog().getByRole("button", { name: "Replay 1 event" }).click();
  await dialog().getByRole("button", { name: "Stop" }).waitFor();
  // What runs is ended by its own button alone.
  await page.keyboard.press("Escape");
  await dialog().getByRole("button", { name: "Stop" }).waitFor();
  goOn();
  await dialog().getByText("1 event is on the way again").waitFor(patience);
  await page.unroute(/webhooks\.replayRange/);
  await dialog().getByRole("button", { name: "Close" }).last().click();
  await sink.waitFor(before + 1);
  expectNothingOdd();
});

test("one event is replayed with the id that it had", async () => {
  await openEndpoint();
  await events().getByRole("link", { name: "email.bounced" }).first().click();
  await page.getByRole("heading", { name: "It was taken" }).waitFor(patience);
  const before = sink.received.length;
  await page.getByRole("button", { name: "Replay" }).click();
  await question().getByRole("button", { name: "Send it again" }).click();
  await sink.waitFor(before + 1);
  const ids = sink.received
    .filter(({ body }) => body.includes("email.bounced"))
    .map(({ headers }) => headers);
  expect(new Set(ids.map((each) => each["webhook-id"])).size).toBe(1);
  await page.getByRole("list", { name: "Calls" }).getByText("2.", { exact: true }).waitFor(patience);
  expectNothingOdd();
});

test("while the secret is rotated, both sign", async () => {
  await openEndpoint();
  await more("Rotate the secret");
  await question().getByRole("button", { name: "Rotate the secret" }).click();
  await dialog().getByText("Each call bears both signatures").waitFor(patience);
  const rotated = await storeSecret();
  await page.getByText("Two sign; the old one ends").waitFor(patience);
  const before = sink.received.length;
  await posthorn.send({ to: "bounced@posthorn.test", subject: "Both", html: "x" });
  await sink.waitFor(before + 1);
  const call = sink.received.at(-1);
  const headers = call?.headers as Record<string, string>;
  for (const each of [secret, rotated])
    expect(new Webhook(each).verify(call?.body ?? "", headers)).toMatchObject({ type: "email.bounced" });
  expectNothingOdd();
});

test("an endpoint is edited, and deleted after one question", async () => {
  await openEndpoint();
  await more("Edit");
  await dialog().getByLabel("email.opened").check();
  await dialog().getByRole("button", { name: "Save" }).click();
  await page.getByRole("list", { name: "Events" }).getByText("email.opened").waitFor(patience);
  await more("Delete");
  await question().getByText("Nothing waits for it.").waitFor(patience);
  await expectNoBarriers(page);
  await takePictures(page, "webhook-delete");
  await question().getByRole("button", { name: "Delete the webhook" }).click();
  await page.getByRole("heading", { name: "No webhook yet" }).waitFor(patience);
  await page.goto(address);
  await page.getByRole("heading", { name: "There is nothing here" }).waitFor(patience);
  profile.errors = profile.errors.filter(({ text }) => !text.includes("404"));
  expectNothingOdd();
});
