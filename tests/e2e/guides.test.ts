import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GUIDE_SEGMENTS } from "#server/shared/guides";
import { type Backstamp, startBackstamp } from "./backstamp";
import {
  expectDarkAndNarrow,
  expectNoAccessibilityViolations,
  expectNoErrors,
  openBrowser,
  openProfile,
  type Watched,
} from "./browser";
import { measureScripts } from "./script-size";

const scriptKbMax = 200;
const paths = GUIDE_SEGMENTS.map((segments) => ["/docs", ...segments].join("/"));
/** Another suite covers the API reference. */
const guides = paths.filter((path) => !path.includes(".") && !path.startsWith("/docs/api"));

let backstamp: Backstamp;
let browser: Browser;
let watched: Watched;
let page: Page;
beforeAll(async () => {
  [backstamp, browser] = await Promise.all([startBackstamp({ SMTP_URL: "capture:" }), openBrowser()]);
  watched = await openProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  page = await watched.context.newPage();
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

describe("the guides", () => {
  test("are served without sign-in, with a policy for static documents, and are checked again after an upgrade", async () => {
    for (const path of paths) {
      const response = await fetch(backstamp.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self';/,
      );
      expect(response.headers.get("cache-control")).toBe("no-cache");
      await response.body?.cancel();
    }
    expect((await fetch(`${backstamp.url}/docs/no-guide`)).status).toBe(404);
  });

  test("are accessible in both themes and on a phone, with little script", async () => {
    const weigh = measureScripts(page);
    for (const path of guides) {
      await page.goto(backstamp.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await expectNoAccessibilityViolations(page);
    }
    expect((await weigh()).untilRest).toBeLessThanOrEqual(scriptKbMax);
    for (const path of ["/docs", "/docs/webhooks", "/docs/reference/operations"]) {
      await page.goto(backstamp.url + path);
      await expectDarkAndNarrow(page, `guides${path.replaceAll("/", "-")}`);
    }
    expectNoErrors(watched);
  });

  test("are found by words of their text, and the result leads to the section", async () => {
    await page.goto(`${backstamp.url}/docs`);
    await page.keyboard.press("/");
    await page.keyboard.type("idempotency retry");
    const result = page.locator(".results a").first();
    await expect.poll(() => result.textContent()).toContain("Retry safely");
    await expectNoAccessibilityViolations(page);
    await result.click();
    await page.waitForURL(`${backstamp.url}/docs/sending#retry-safely`);
    await page.getByRole("searchbox").fill("xylophone quartz");
    await expect.poll(() => page.locator(".results [role=status]").textContent()).toBe("No results.");
    await page.keyboard.press("Escape");
    expect(await page.locator(".results").isVisible()).toBe(false);
    expectNoErrors(watched);
  });

  test("copy a sample", async () => {
    await page.goto(`${backstamp.url}/docs/sending`);
    const block = page.locator(".code").first();
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(await block.locator("code").textContent());
  });

  test("lead from an old link of the API reference to the operation", async () => {
    await page.goto(`${backstamp.url}/docs#/Emails/postEmails`);
    await page.waitForURL(`${backstamp.url}/docs/api/emails#postEmails`);
    await page.goto(`${backstamp.url}/docs/api#/Webhooks`);
    await page.waitForURL(`${backstamp.url}/docs/api/webhooks`);
  });
});
