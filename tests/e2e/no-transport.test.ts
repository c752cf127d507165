import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoAccessibilityViolations, openBrowser, openProfile, signIn, takePictures } from "./browser";

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
    await expect
      .poll(() => page.getByRole("status").allTextContents(), { timeout: 60_000 })
      .toContainEqual(expect.stringMatching(/Outgoing email is not configured. Set SMTP_URL/));
    await expectNoAccessibilityViolations(page);
  }
  await page
    .getByText("Attempts start when the operator adds a relay or sets SMTP_URL.")
    .waitFor({ timeout: 60_000 });
  await takePictures(page, "email-waiting");
});

test("a page with changing data refetches it, but not in a hidden tab", async () => {
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/trpc/")) requests++;
  });
  await page.goto(`${backstamp.url}/console/emails`);
  await expect.poll(() => requests, { timeout: 60_000 }).toBeGreaterThan(2);
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  await page.waitForLoadState("networkidle");
  const before = requests;
  // A visible tab would send at least two requests in this time.
  await page.waitForTimeout(6_000);
  expect(requests).toBe(before);
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  await expect.poll(() => requests, { timeout: 60_000 }).toBeGreaterThan(before);
});
