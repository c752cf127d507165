import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, expect, test } from "vitest";
import { type SinkReply, startHttpSink } from "../support/servers/http-sink";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

const waitOptions = { timeout: 60_000 };
const hostile = `<!doctype html><script>alert(document.domain)</script><img src=x onerror=alert(1)>`;

/** The current response of the endpoint. */
let answer: SinkReply = 204;
let secret: string;
let address: string;

const sink = await startHttpSink(() => answer);
const { backstamp, profile, page } = await openSignedIn(
  { SMTP_URL: "capture:", BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8" },
  { permissions: ["clipboard-read", "clipboard-write"] },
);
afterEach(() => expectNoErrors(profile));
afterAll(() => sink?.close());

const dialog = () => page.getByRole("dialog");
const confirmation = () => page.getByRole("alertdialog");
const events = () => page.getByRole("table", { name: "Event deliveries" }).getByRole("row");
const openMenuItem = async (name: string) => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name }).click();
};
const openEndpoint = async () => {
  await page.goto(address);
  await page.getByRole("heading", { name: "Event deliveries", exact: true }).waitFor(waitOptions);
};

async function storeSecret(): Promise<string> {
  await dialog().getByRole("button", { name: "Copy: Signing secret" }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()), waitOptions)
    .toMatch(/^whsec_/);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText("nothing"));
  await dialog().getByRole("button", { name: "I have stored it" }).click();
  await dialog().waitFor({ state: "detached" });
  return copied;
}

test("only a permitted URL is added as an endpoint, and its secret is shown once", async () => {
  await page.goto(`${backstamp.url}/console/webhooks`);
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhooks-empty");
  await page.getByRole("button", { name: "Add webhook" }).first().click();
  await dialog().getByLabel("URL").fill("https://10.1.2.3/hooks");
  await dialog().getByRole("button", { name: "Add webhook" }).click();
  await dialog().getByText("public Internet").waitFor(waitOptions);
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhook-add");
  await dialog().getByLabel("URL").fill(`http://127.0.0.1:${sink.port}/hooks`);
  await dialog().getByRole("button", { name: "Add webhook" }).click();
  await dialog().getByRole("heading", { name: "Signing secret" }).waitFor(waitOptions);
  await takePictures(page, "webhook-secret");
  secret = await storeSecret();
  expect(secret).toMatch(/^whsec_/);
  expect(await page.content()).not.toContain(secret);
  await page.getByRole("link", { name: /127\.0\.0\.1/ }).click();
  await page.getByRole("heading", { name: "No event deliveries yet" }).waitFor(waitOptions);
  address = page.url();
  await page.reload();
  expect(await page.content()).not.toContain(secret);
});

test("a test event is sent, and its response is shown", async () => {
  answer = { status: 200, body: hostile, headers: { "content-type": "text/html" } };
  await page.getByRole("button", { name: "Send test event" }).click();
  await dialog().getByRole("button", { name: "Send", exact: true }).click();
  await dialog().getByText("Response:").waitFor(waitOptions);
  expect(await dialog().locator("pre").textContent()).toContain(hostile);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhook-test");
  await dialog().getByRole("link", { name: "View event delivery" }).click();
  await page.getByRole("heading", { name: "Succeeded" }).waitFor(waitOptions);
  expect(await page.getByText(hostile).count()).toBe(1);
  await page.getByText("webhook-signature: v1,").waitFor(waitOptions);
  const [received] = sink.received;
  const shownBody = (await page.locator("pre").last().textContent()) ?? "";
  expect(JSON.parse(shownBody)).toEqual(JSON.parse(received?.body ?? ""));
  expect(shownBody).toContain('{\n  "type": "email.delivered",\n');
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhook-event");
});

test("an email event arrives signed and is listed as succeeded", async () => {
  answer = 204;
  const before = sink.received.length;
  await openEndpoint();
  await backstamp.send({ to: "bounced@backstamp.test", subject: "Away", html: "x" });
  await sink.waitFor(before + 1);
  await events().filter({ hasText: "email.bounced" }).getByText("Succeeded").waitFor(waitOptions);
  const call = sink.received.at(-1);
  const headers = call?.headers as Record<string, string>;
  expect(new Webhook(secret).verify(call?.body ?? "", headers)).toMatchObject({ type: "email.bounced" });
  await page.getByRole("combobox", { name: "Event", exact: true }).selectOption("email.bounced");
  await page.waitForURL(/type=email.bounced/);
  await expect.poll(() => events().count(), waitOptions).toBe(2);
});

test("a failing endpoint shows its state and the next attempt", async () => {
  answer = { status: 500, body: hostile };
  await openEndpoint();
  await backstamp.send({ to: "delivered@backstamp.test", subject: "Lost", html: "x" });
  await page.getByText("Failing", { exact: true }).first().waitFor(waitOptions);
  await page.getByText("Attempts are failing.").waitFor(waitOptions);
  await events().filter({ hasText: "Pending" }).getByText(/^in /).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhook");
  const pending = events().filter({ hasText: "Pending" });
  await pending.getByText("delivered@backstamp.test").waitFor(waitOptions);
  await pending.getByText("“Lost”", { exact: true }).waitFor(waitOptions);
  await pending.getByText(/^Pending, \d failed$/).waitFor(waitOptions);
  await openMenuItem("Retry all pending now");
  await confirmation().getByRole("heading", { name: "Retry 1 pending event now?" }).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhook-retry");
  const attemptsBefore = sink.received.length;
  await confirmation().getByRole("button", { name: "Retry 1 pending event" }).click();
  await sink.waitFor(attemptsBefore + 1);
  await events().getByRole("link", { name: "email.delivered" }).first().click();
  await page.getByRole("heading", { name: /^Next attempt/ }).waitFor(waitOptions);
  await page.getByRole("link", { name: "Lost" }).waitFor(waitOptions);
  expect(await page.getByText(hostile).first().isVisible()).toBe(true);
  await page.goto(`${backstamp.url}/console/webhooks`);
  await page.getByText("Failing", { exact: true }).waitFor(waitOptions);
  await page.getByText(/^\d+ attempts?, first /).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhooks");
});

test("a disabled endpoint receives no events, and failed events can be replayed after it is enabled", async () => {
  await openEndpoint();
  await page.getByRole("button", { name: "Disable" }).click();
  await confirmation().getByText("Pending events that fail now: 1").waitFor(waitOptions);
  await confirmation().getByRole("button", { name: "Disable" }).click();
  await page.getByText("This webhook is disabled. No events are sent to it").waitFor(waitOptions);
  expect(await page.getByRole("button", { name: "Send test event" }).isDisabled()).toBe(true);
  await page.getByRole("combobox", { name: "Status", exact: true }).selectOption({ label: "Failed" });
  await expect.poll(() => events().count(), waitOptions).toBe(2);
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("button", { name: "Disable" }).waitFor(waitOptions);

  answer = 204;
  const before = sink.received.length;
  await openMenuItem("Replay events");
  await dialog().getByLabel("Time range").selectOption({ label: "Last hour" });
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhook-replay");
  await dialog().getByRole("button", { name: "Count events" }).click();
  await dialog()
    .getByText(/^1 event will be sent again/)
    .waitFor(waitOptions);
  let release = () => {};
  const heldRequest = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/webhooks\.replayRange/, async (route) => {
    await heldRequest;
    await route.continue();
  });
  await dialog().getByRole("button", { name: "Replay 1 event" }).click();
  await dialog().getByRole("button", { name: "Stop" }).waitFor();
  // Only its own button stops a running replay.
  await page.keyboard.press("Escape");
  await dialog().getByRole("button", { name: "Stop" }).waitFor();
  release();
  await dialog().getByText("1 event queued for replay").waitFor(waitOptions);
  await page.unrouteAll({ behavior: "wait" });
  await dialog().getByRole("button", { name: "Close" }).last().click();
  await sink.waitFor(before + 1);
});

test("one event is replayed with its original id", async () => {
  await openEndpoint();
  await events().getByRole("link", { name: "email.bounced" }).first().click();
  await page.getByRole("heading", { name: "Succeeded" }).waitFor(waitOptions);
  const before = sink.received.length;
  await page.getByRole("button", { name: "Replay" }).click();
  await confirmation().waitFor(waitOptions);
  await takePictures(page, "webhook-replay-event");
  await confirmation().getByRole("button", { name: "Replay" }).click();
  await sink.waitFor(before + 1);
  const ids = sink.received
    .filter(({ body }) => body.includes("email.bounced"))
    .map(({ headers }) => headers);
  expect(new Set(ids.map((each) => each["webhook-id"])).size).toBe(1);
  await page.getByRole("list", { name: "Attempts" }).getByText("2.", { exact: true }).waitFor(waitOptions);
});

test("after a secret rotation both secrets sign", async () => {
  await openEndpoint();
  await openMenuItem("Rotate secret");
  await confirmation().getByRole("button", { name: "Rotate secret" }).click();
  await dialog().getByText("Each request has both signatures").waitFor(waitOptions);
  await takePictures(page, "webhook-rotated");
  const rotated = await storeSecret();
  await page.getByText("Two active; the old one expires").waitFor(waitOptions);
  const before = sink.received.length;
  await backstamp.send({ to: "bounced@backstamp.test", subject: "Both", html: "x" });
  await sink.waitFor(before + 1);
  const call = sink.received.at(-1);
  const headers = call?.headers as Record<string, string>;
  for (const each of [secret, rotated])
    expect(new Webhook(each).verify(call?.body ?? "", headers)).toMatchObject({ type: "email.bounced" });
});

test("an endpoint is edited, then deleted after a confirmation", async () => {
  await openEndpoint();
  await openMenuItem("Edit");
  await dialog().getByLabel("email.opened").check();
  await dialog().getByRole("button", { name: "Save" }).click();
  await page.getByRole("list", { name: "Events" }).getByText("email.opened").waitFor(waitOptions);
  await openMenuItem("Delete");
  await confirmation().getByText("It has no pending events.").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "webhook-delete");
  await confirmation().getByRole("button", { name: "Delete webhook" }).click();
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor(waitOptions);
  await page.goto(address);
  await page.getByRole("heading", { name: "Not found" }).waitFor(waitOptions);
  profile.errors = profile.errors.filter(({ text }) => !text.includes("404"));
});
