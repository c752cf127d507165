import type { Browser, Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoAccessibilityViolations, openBrowser, openProfile, signIn, takePictures } from "./browser";
import { makeFreshTeam } from "./pages";

const waitOptions = { timeout: 60_000 };

let backstamp: Backstamp;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp();
  page = await (await openProfile(browser)).context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

test("without outgoing email every page shows a banner, and a queued email shows the reason", async () => {
  await backstamp.operate("domain", "add", "example.org", "--verified");
  const made = await backstamp.operate(
    ...["key", "create", "--name", "Shop", "--scopes", "emails:send", "--domains", "example.org", "--json"],
  );
  const { token } = JSON.parse(made);
  const email = { from: "shop@example.org", to: "ann@example.net", subject: "Waiting", html: "<p>Hello</p>" };
  const id = await backstamp.send(email, token);
  for (const path of ["/console/emails", `/console/emails/${id}`]) {
    await page.goto(`${backstamp.url}${path}`);
    const notice = page.getByRole("status").filter({ hasText: "Outgoing email is not configured." });
    await notice.waitFor(waitOptions);
    await notice.getByText("Details").click();
    await notice.getByText("Set SMTP_URL and restart, or add a relay").waitFor(waitOptions);
    await expectNoAccessibilityViolations(page);
  }
  await page
    .getByText("Attempts start when the operator adds a relay or sets SMTP_URL.")
    .waitFor({ timeout: 60_000 });
  await takePictures(page, "email-waiting");
  await page.getByRole("status").getByRole("link", { name: "Add a relay" }).click();
  await page.waitForURL(/\/console\/installation\/relays/, waitOptions);
  await page.getByRole("dialog").getByLabel("Name").waitFor(waitOptions);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.reload();
  await page.getByRole("heading", { name: "Installation" }).first().waitFor(waitOptions);
  // The document has the notice until the page knows what was dismissed.
  await expect.poll(() => page.getByText("Outgoing email is not configured.").count(), waitOptions).toBe(0);
});

const show = (visibility: "hidden" | "visible") =>
  page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  }, visibility);
const sendOne = (subject: string) => backstamp.send({ to: "delivered@backstamp.test", subject, html: "x" });

test("a list shows each change as the server reports it, but reads nothing in a hidden tab", async () => {
  let started = 0;
  const pending = new Set<Request>();
  const isCall = (call: { url(): string }) => call.url().includes("/api/trpc/");
  const isLive = (call: { url(): string }) => call.url().includes("/api/trpc/live.changes");
  page.on("request", (request) => {
    if (!isCall(request)) return;
    started++;
    pending.add(request);
  });
  // Calls of the page before this one also end.
  const settle = (request: Request) => void pending.delete(request);
  page.on("requestfinished", settle).on("requestfailed", settle);
  await page.clock.install();
  const connected = page.waitForResponse(isLive);
  await page.goto(`${backstamp.url}/console/emails`);
  expect((await connected).headers()["content-type"]).toBe("text/event-stream");
  await sendOne("Seen at once");
  await page.getByText("Seen at once").first().waitFor({ timeout: 60_000 });
  const closed = page.waitForEvent("requestfailed", { predicate: isLive });
  await show("hidden");
  await closed;
  // The last change of the first email may still be read.
  await page.clock.runFor(5_000);
  await expect.poll(() => pending.size, waitOptions).toBe(0);
  const before = started;
  const id = await sendOne("Sent meanwhile");
  await expect
    .poll(async () => (await backstamp.api("GET", `/emails/${id}`)).last_event, waitOptions)
    .toBe("delivered");
  // A visible tab would read the list many times in this time.
  await page.clock.runFor(120_000);
  expect(started).toBe(before);
  await show("visible");
  await page.getByText("Sent meanwhile").first().waitFor({ timeout: 60_000 });
});

test("without that connection the list polls", async () => {
  await page.route("**/api/trpc/live.changes*", (route) => route.abort());
  await page.reload();
  await sendOne("Found by polling");
  const found = async () => {
    await page.clock.runFor(10_000);
    return page.getByText("Found by polling").count();
  };
  await expect.poll(found, waitOptions).toBeGreaterThan(0);
});

test("with a clock behind the server's, what happened is not shown as future", async () => {
  await page.clock.setFixedTime(Date.now() - 60_000);
  await page.reload();
  const row = page.getByRole("link", { name: /Found by polling/ }).first();
  await row.waitFor({ timeout: 60_000 });
  await page.getByText("just now").first().waitFor({ timeout: 60_000 });
  expect(await page.getByText(/^in (a few seconds|\d)/).count()).toBe(0);
});

const REASON = `Complaints about ${"the newsletter of the first week, ".repeat(5)}which is under review`;
const openPage = async (email: string, password: string) => {
  const opened = await (await openProfile(browser)).context.newPage();
  await signIn(opened, backstamp.url, email, password);
  return opened;
};
const noticesOf = (on: Page) =>
  on.getByRole("status").filter({ has: on.getByRole("button", { name: "Dismiss" }) });

/** Runs in the browser: the height of each notice in pixels, and the text lines of its headline. */
const readHeights = (notices: Element[]) =>
  notices.map((notice) => {
    const headline = notice.querySelector("summary > span");
    if (!headline) throw new Error("The notice has no headline.");
    const { height } = headline.getBoundingClientRect();
    const lines = Math.round(height / Number.parseFloat(getComputedStyle(headline).lineHeight));
    return { isLow: notice.getBoundingClientRect().height <= 48, lines };
  });

test("each notice has one line at every width, and an action also for users who are not operators", async () => {
  await backstamp.operate("queue", "pause", "--reason", REASON);
  const fresh = await makeFreshTeam(backstamp);
  for (const { email, password, action } of [
    { ...ADMIN, action: "Add a relay" },
    { ...fresh, action: "View queued emails" },
  ]) {
    const on = await openPage(email, password);
    await on.goto(`${backstamp.url}/console/domains`);
    await expect.poll(() => noticesOf(on).count(), waitOptions).toBe(2);
    for (const width of [380, 820, 1280]) {
      await on.setViewportSize({ width, height: 760 });
      const low = { isLow: true, lines: 1 };
      await expect
        .poll(() => noticesOf(on).evaluateAll(readHeights), { message: `${width} px` })
        .toEqual([low, low]);
      expect(await on.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await on.setViewportSize({ width: 380, height: 760 });
    await expectNoAccessibilityViolations(on);
    await noticesOf(on).first().locator("summary").click();
    await on.getByText(REASON).waitFor(waitOptions);
    await noticesOf(on).getByRole("link", { name: action }).last().click();
    await on.waitForURL(action === "Add a relay" ? /\/relays/ : /\/console\/emails\?.*status=queued/);
    await on.context().close();
  }
});

test("a dismissed notice returns with the next incident of its kind", async () => {
  const on = await openPage(ADMIN.email, ADMIN.password);
  await on.goto(`${backstamp.url}/console/domains`);
  await expect.poll(() => noticesOf(on).count(), waitOptions).toBe(2);
  for (const left of [1, 0]) {
    await noticesOf(on).first().getByRole("button", { name: "Dismiss" }).click();
    await expect.poll(() => noticesOf(on).count(), waitOptions).toBe(left);
  }
  const mailServer = await startSmtpTestServer();
  await backstamp.operate("relay", "add", "main", `smtp://127.0.0.1:${mailServer.port}`);
  await backstamp.operate("relay", "test", "main");
  await backstamp.operate("queue", "resume");
  await on.reload();
  const dismissed = () => on.evaluate(() => sessionStorage.getItem("backstamp.dismissed"));
  await expect.poll(dismissed, waitOptions).toBe("[]");
  await backstamp.operate("relay", "remove", "main");
  await mailServer.close();
  await backstamp.operate("queue", "pause", "--reason", REASON);
  await on.reload();
  await noticesOf(on).filter({ hasText: "Outgoing email is not configured." }).waitFor(waitOptions);
  await noticesOf(on).filter({ hasText: REASON }).waitFor(waitOptions);
  await on.context().close();
});
