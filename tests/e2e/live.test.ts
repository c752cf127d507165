import type { Page, Request } from "playwright-core";
import { expect, test, vi } from "vitest";
import { readEvents } from "../support/console/events";
import { openSignedIn } from "./backstamp";

const waitOptions = { timeout: 60_000 };

const { backstamp, profile } = await openSignedIn({ SMTP_URL: "capture:" });
const sendOne = (subject: string): Promise<string> =>
  backstamp.send({ to: "delivered@backstamp.test", subject, html: "x" });
await sendOne("The first email");
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

test("without polling, the connection updates the list of emails", async () => {
  await expectReported(
    "/console/emails",
    () => sendOne("On the list"),
    (page) => page.getByText("On the list"),
  );
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
