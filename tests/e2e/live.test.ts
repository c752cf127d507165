import type { Browser, Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readEvents } from "../support/console/events";
import { type HttpSink, startHttpSink } from "../support/servers/http-sink";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { openBrowser, openProfile, signIn, type Watched } from "./browser";

const waitOptions = { timeout: 60_000 };

let backstamp: Backstamp;
let browser: Browser;
let sink: HttpSink;
let profile: Watched;
beforeAll(async () => {
  browser = await openBrowser();
  sink = await startHttpSink(() => 204);
  backstamp = await startBackstamp({ SMTP_URL: "capture:", BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8" });
  profile = await openProfile(browser);
  await signIn(await profile.context.newPage(), backstamp.url, ADMIN.email, ADMIN.password);
  await sendOne("The first email");
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
  await sink?.close();
});

const sendOne = (subject: string, more: object = {}): Promise<string> =>
  backstamp.send({ to: "delivered@backstamp.test", subject, html: "x", ...more });
const isConnection = (request: { url(): string }) => request.url().includes("/api/trpc/live.changes");

/** Opens a page that cannot poll: it has no intervals. Without a connection, it is never updated. */
async function openWithoutPolling(path: string, { isConnected }: { isConnected: boolean }) {
  const page = await profile.context.newPage();
  await page.addInitScript(() => {
    window.setInterval = () => 0 as never;
  });
  if (!isConnected) await page.route("**/api/trpc/live.changes*", (route) => route.abort());
  const connected = isConnected
    ? page.waitForResponse(isConnection)
    : page.waitForEvent("requestfailed", isConnection);
  await page.goto(`${backstamp.url}${path}`);
  await connected;
  return page;
}

/**
 * Expects that the change is on a page with the connection, and not on one without it: only the connection
 * can have caused the update.
 */
async function expectReported(path: string, change: () => Promise<unknown>, find: (page: Page) => unknown) {
  const connected = await openWithoutPolling(path, { isConnected: true });
  const other = await openWithoutPolling(path, { isConnected: false });
  const found = (page: Page) => find(page) as ReturnType<Page["locator"]>;
  expect(await Promise.all([connected, other].map((page) => found(page).count()))).toEqual([0, 0]);
  await change();
  await found(connected).first().waitFor(waitOptions);
  expect(await found(other).count()).toBe(0);
  await Promise.all([connected.close(), other.close()]);
}

describe("without polling, the connection updates", () => {
  test("the list of emails", async () => {
    await expectReported(
      "/console/emails",
      () => sendOne("On the list"),
      (page) => page.getByText("On the list"),
    );
  });

  test("the sums of the overview", async () => {
    const accepted = (page: Page) =>
      page.locator("dl > div").filter({ has: page.getByText("Accepted", { exact: true }) });
    await expectReported(
      "/console",
      () => Promise.all(Array.from({ length: 40 }, (_, index) => sendOne(`Sum ${index}`))),
      (page) => accepted(page).getByText(/^4\d$/),
    );
  });

  test("the page of an email", async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const id = await sendOne("On its page", { scheduled_at: inAnHour });
    const soon = () => new Date(Date.now() + 1_000).toISOString();
    await expectReported(
      `/console/emails/${id}`,
      () => backstamp.api("PATCH", `/emails/${id}`, { scheduled_at: soon() }),
      (page) => page.getByText("Delivered", { exact: true }),
    );
  });

  test("the deliveries of a webhook", async () => {
    const key = ["key", "create", "--name", "Hooks", "--scopes", "webhooks:write", "--json"];
    const { token } = JSON.parse(await backstamp.operate(...key));
    const endpoint = { endpoint: `http://127.0.0.1:${sink.port}/hook`, events: ["email.delivered"] };
    const { id } = await backstamp.api("POST", "/webhooks", endpoint, token);
    await expectReported(
      `/console/webhooks/${id}`,
      () => sendOne("To a webhook"),
      (page) => page.getByRole("table", { name: "Event deliveries" }).getByText("Succeeded"),
    );
  });
});

/** The connection of a page, by another HTTP client. */
async function connect(url: string, cookie: string) {
  const abort = new AbortController();
  const events = readEvents(await fetch(url, { headers: { cookie }, signal: abort.signal }));
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error("the connection ended without a message");
    if (value.name === "message")
      return { isLive: JSON.parse(value.data).isLive as boolean, events, close: () => abort.abort() };
  }
}

test("a client that disconnects leaves a place for another one", async () => {
  const page = await profile.context.newPage();
  const requested: Promise<Request> = page.waitForRequest(isConnection);
  await page.goto(`${backstamp.url}/console/emails`);
  const url = (await requested).url();
  await page.close();
  const cookies = await profile.context.cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  /** Opens connections until the server offers no further one. */
  const fill = async () => {
    const connections = [];
    for (;;) {
      const connection = await connect(url, cookie);
      if (!connection.isLive) return connections;
      connections.push(connection);
    }
  };
  const first = await fill();
  expect(first.length).toBeGreaterThan(40);
  expect(first.length).toBeLessThanOrEqual(50);
  for (const { close } of first) close();
  await vi.waitFor(
    async () => {
      const again = await fill();
      for (const { close } of again) close();
      expect(again.length).toBeGreaterThan(40);
    },
    { timeout: 60_000, interval: 200 },
  );
});
