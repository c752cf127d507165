import type { Page, Request } from "playwright-core";
import { expect, test } from "vitest";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { ADMIN, openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, openProfile, signIn, takePictures } from "./browser";

const waitOptions = { timeout: 60_000 };

const { backstamp, browser, page } = await openSignedIn();

test("without outgoing email every page shows a banner, and a queued email shows the reason", async () => {
  await backstamp.operate("domain", "add", "example.org", "--verified");
  const token = await backstamp.createKey("--domains", "example.org");
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

const REASON = "Complaints about the newsletter";
const noticesOf = (on: Page) =>
  on.getByRole("status").filter({ has: on.getByRole("button", { name: "Dismiss" }) });

test("a dismissed notice returns with the next incident of its kind", async () => {
  await backstamp.operate("queue", "pause", "--reason", REASON);
  const on = await (await openProfile(browser)).context.newPage();
  await signIn(on, backstamp.url, ADMIN.email, ADMIN.password);
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
