import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

let posthorn: Posthorn;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn();
  page = await (await openProfile(browser)).context.newPage();
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

test("without a way out every page says so, and a mail that waits says what it waits for", async () => {
  await posthorn.operate("domain", "add", "example.org", "--verified");
  const made = await posthorn.operate(
    ...["key", "create", "--name", "Shop", "--scopes", "emails:send", "--domains", "example.org", "--json"],
  );
  const { token } = JSON.parse(made);
  const mail = { from: "shop@example.org", to: "ann@example.net", subject: "Waiting", html: "<p>Hello</p>" };
  const id = await posthorn.send(mail, token);
  for (const path of ["/console/emails", `/console/emails/${id}`]) {
    await page.goto(`${posthorn.url}${path}`);
    await expect
      .poll(() => page.getByRole("status").allTextContents(), { timeout: 60_000 })
      .toContainEqual(expect.stringMatching(/no way out is set up. Set SMTP_URL/));
    await expectNoBarriers(page);
  }
  await page.getByText("Waits: there is no way out yet").waitFor({ timeout: 60_000 });
  await takePictures(page, "email-waiting");
});

test("what moves is asked after again and again, but not by a tab that nobody sees", async () => {
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/trpc/")) asked++;
  });
  await page.goto(`${posthorn.url}/console/emails`);
  await expect.poll(() => asked, { timeout: 60_000 }).toBeGreaterThan(2);
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  await page.waitForLoadState("networkidle");
  const before = asked;
  // Seen, it would have asked twice or more in this time.
  await page.waitForTimeout(6_000);
  expect(asked).toBe(before);
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  await expect.poll(() => asked, { timeout: 60_000 }).toBeGreaterThan(before);
});
