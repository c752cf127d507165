import { describe, expect, test } from "vitest";
import { GUIDE_SEGMENTS } from "#server/shared/guides";
import { openSite } from "./backstamp";
import {
  expectDarkAndNarrow,
  expectNoAccessibilityViolations,
  expectNoErrors,
  takePictures,
} from "./browser";
import { measureScripts } from "./script-size";

const scriptKbMax = 200;
const paths = GUIDE_SEGMENTS.map((segments) => ["/docs", ...segments].join("/"));
/** Another suite covers the API reference. */
const guides = paths.filter((path) => !path.includes(".") && !path.startsWith("/docs/api"));

const {
  backstamp,
  browser,
  profile: watched,
  page,
} = await openSite({ SMTP_URL: "capture:" }, { permissions: ["clipboard-read", "clipboard-write"] });

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
    for (const path of ["/docs", "/docs/webhooks", "/docs/operating"]) {
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

  test("have tabs for languages, by pointer and keyboard, whose choice is for all pages", async () => {
    await page.goto(`${backstamp.url}/docs/sending`);
    const tab = (name: string) => page.getByRole("tab", { name, exact: true });
    const panel = page.getByRole("tabpanel");
    expect(await panel.locator("code").textContent()).toContain("curl -sS");
    await tab("Python").click();
    expect(await panel.locator("code").textContent()).toContain("import urllib.request");
    expect(await panel.locator(".hljs-keyword").count()).toBeGreaterThan(0);
    await page.keyboard.press("ArrowRight");
    expect(await tab("PHP").evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Home");
    expect(await panel.locator("code").textContent()).toContain("curl -sS");
    await tab("Python").click();
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "guides-tabs");
    await page.goto(`${backstamp.url}/docs/webhooks`);
    expect(await panel.locator("code").textContent()).toContain("hmac.compare_digest");
    await page.goto(`${backstamp.url}/docs/batch`);
    expect(await tab("curl").getAttribute("aria-selected")).toBe("true");
    const without = await browser.newContext({ javaScriptEnabled: false });
    const plain = await without.newPage();
    await plain.goto(`${backstamp.url}/docs/sending`);
    for (const name of ["curl", "Node", "Python", "PHP"])
      expect(await plain.locator(".sample .label").getByText(name, { exact: true }).isVisible()).toBe(true);
    await without.close();
    expectNoErrors(watched);
  });

  test("and all other pages are not for search engines", async () => {
    const response = await fetch(`${backstamp.url}/robots.txt`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; charset=utf-8",
    ]);
    expect(await response.text()).toMatch(/^User-agent: \*\nDisallow: \/\n/);
  });

  test("copy a sample", async () => {
    await page.goto(`${backstamp.url}/docs/sending`);
    const block = page.locator(".code").locator("visible=true").first();
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(await block.locator("code").textContent());
  });
});
