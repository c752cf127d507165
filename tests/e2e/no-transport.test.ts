import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoAccessibilityViolations, openBrowser, openProfile, signIn, takePictures } from "./browser";

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
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.reload();
  await page.getByRole("heading", { name: "Installation" }).first().waitFor(waitOptions);
  expect(await page.getByText("Outgoing email is not configured.").count()).toBe(0);
});

const show = (visibility: "hidden" | "visible") =>
  page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  }, visibility);
const sendOne = (subject: string) => backstamp.send({ to: "delivered@backstamp.test", subject, html: "x" });

test("a list shows each change as the server reports it, but reads nothing in a hidden tab", async () => {
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/trpc/")) requests++;
  });
  const isLive = (call: { url(): string }) => call.url().includes("/api/trpc/live.changes");
  const connected = page.waitForResponse(isLive);
  await page.goto(`${backstamp.url}/console/emails`);
  expect((await connected).headers()["content-type"]).toBe("text/event-stream");
  await sendOne("Seen at once");
  await page.getByText("Seen at once").first().waitFor({ timeout: 60_000 });
  const closed = page.waitForEvent("requestfailed", { predicate: isLive });
  await show("hidden");
  await closed;
  const before = requests;
  await sendOne("Sent meanwhile");
  // A visible tab would read the list at least twice in this time.
  await page.waitForTimeout(4_000);
  expect(requests).toBe(before);
  await show("visible");
  await page.getByText("Sent meanwhile").first().waitFor({ timeout: 60_000 });
});

test("without that connection the list polls", async () => {
  await page.route("**/api/trpc/live.changes*", (route) => route.abort());
  await page.reload();
  await sendOne("Found by polling");
  await page.getByText("Found by polling").first().waitFor({ timeout: 60_000 });
});

test("with a clock behind the server's, what happened is not shown as future", async () => {
  await page.clock.setFixedTime(Date.now() - 60_000);
  await page.reload();
  const row = page.getByRole("link", { name: /Found by polling/ }).first();
  await row.waitFor({ timeout: 60_000 });
  await page.getByText("just now").first().waitFor({ timeout: 60_000 });
  expect(await page.getByText(/^in (a few seconds|\d)/).count()).toBe(0);
});
