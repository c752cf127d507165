import { describe, expect, test } from "vitest";
import { API_SECTIONS } from "#server/shared/guides";
import { ADMIN, openSite } from "./backstamp";
import {
  expectDarkAndNarrow,
  expectNoAccessibilityViolations,
  expectNoErrors,
  openProfile,
  signIn,
  takePictures,
} from "./browser";
import { measureScripts } from "./script-size";

/** In KB of 1,024 bytes, compressed. */
const scriptKb = { min: 2, max: 20 };
const pages = API_SECTIONS.flatMap(({ pages: names }) => names).map((name) =>
  name === "" ? "/docs/api" : `/docs/api/${name}`,
);

/** The first page, the one with most fields, and the lists. */
const MEASURED = ["/docs/api", "/docs/api/emails", "/docs/api/errors", "/docs/api/webhook-events"];

const { backstamp, browser, profile: watched, page } = await openSite({ SMTP_URL: "capture:" });
const key = await backstamp.createKey("--domains", "backstamp.test");

const operation = (name: string) =>
  page.locator("section").filter({ has: page.locator(`p > code:text-is("${name}")`) });

describe("the reference", () => {
  test("shows every operation without sign-in", async () => {
    const document = await (await fetch(`${backstamp.url}/api/openapi.json`)).json();
    const count = Object.values<object>(document.paths).flatMap((methods) => Object.keys(methods)).length;
    await page.goto(`${backstamp.url}/docs/api`);
    expect(await page.locator("article a code").count()).toBe(count);
    await page.getByRole("link", { name: "POST /api/emails", exact: true }).click();
    await page.waitForURL(`${backstamp.url}/docs/api/emails#send-an-email`);
    const field = operation("POST /api/emails").locator("li code", { hasText: /^from$/ });
    expect(await field.first().isVisible()).toBe(true);
  });

  test.each(pages)("%s is accessible, with little script", async (path) => {
    const opened = await watched.context.newPage();
    const weigh = measureScripts(opened);
    await opened.goto(backstamp.url + path);
    await opened.getByRole("heading", { level: 1 }).waitFor();
    const { untilRest } = await weigh();
    expect(untilRest).toBeGreaterThan(scriptKb.min);
    expect(untilRest).toBeLessThanOrEqual(scriptKb.max);
    await expectNoAccessibilityViolations(opened);
    // All have the same layout.
    if (MEASURED.includes(path)) await expectDarkAndNarrow(opened, path.slice(1).replaceAll("/", "-"));
    await opened.close();
    expectNoErrors(watched);
  });

  test("shows samples in the language that the reader chose, and the address of this host", async () => {
    await page.goto(`${backstamp.url}/docs/api/emails`);
    const post = operation("POST /api/emails");
    const code = post.locator(".sample code").locator("visible=true");
    expect(await code.textContent()).toContain('curl -X POST "$BACKSTAMP_URL/api/emails"');
    await post.getByRole("tab", { name: "Python", exact: true }).click();
    await expect.poll(() => code.textContent()).toContain("requests.post(");
    await page.goto(`${backstamp.url}/docs/api`);
    expect(await page.locator("article").textContent()).toContain(`BACKSTAMP_URL=${backstamp.url} `);
  });

  test("sends a request with the API key of the user, and shows the response", async () => {
    await page.goto(`${backstamp.url}/docs/api/emails`);
    const post = operation("POST /api/emails");
    await post.getByText("Try it").click();
    await post.getByLabel("API key").fill(key);
    await expect.poll(() => post.getByLabel("Body").inputValue()).toContain("backstamp.test");
    await expectNoAccessibilityViolations(page);
    await post.getByRole("button", { name: "Send real request" }).click();
    await expect.poll(() => post.getByRole("status").textContent(), { timeout: 30_000 }).toMatch(/^200 /);
    const sent = JSON.parse((await post.locator(".try pre").textContent()) ?? "");
    expect(sent.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    await takePictures(page, "docs-call");

    // The other operations of the page have the same key.
    const get = operation("GET /api/emails/{id}");
    await get.getByText("Try it").click();
    await expect.poll(() => get.getByLabel("Path").inputValue()).not.toContain("{id}");
    await get.getByLabel("Path").fill(`/api/emails/${sent.id}`);
    await get.getByRole("button", { name: "Send request" }).click();
    await expect.poll(() => get.getByRole("status").textContent(), { timeout: 30_000 }).toMatch(/^200 /);
    expect(JSON.parse((await get.locator(".try pre").textContent()) ?? "")).toMatchObject({
      id: sent.id,
      subject: "First email",
    });
  });

  test("does not use the session of the console, and shows the error of a request without a key", async () => {
    await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
    await page.goto(`${backstamp.url}/docs/api/emails`);
    const list = operation("GET /api/emails");
    const request = page.waitForRequest((each) => /\/api\/emails/.test(each.url()));
    await list.getByText("Try it").click();
    expect(await list.getByLabel("API key").inputValue()).toBe("");
    await list.getByRole("button", { name: "Send request" }).click();
    expect(await (await request).headerValue("cookie")).toBeNull();
    await expect.poll(() => list.getByRole("status").textContent()).toMatch(/^401 /);
    expect(JSON.parse((await list.locator(".try pre").textContent()) ?? "")).toEqual({
      error: "Unauthorized",
    });
    // The browser logs each response with an error status.
    expect(watched.errors.splice(0).map(({ text }) => text)).toEqual([expect.stringContaining("401")]);
  });

  test("works in a browser that blocks storage", async () => {
    const blocked = await openProfile(browser, { colorScheme: "dark" });
    await blocked.context.addInitScript(() =>
      Object.defineProperty(window, "localStorage", {
        get: () => {
          throw new DOMException("Blocked", "SecurityError");
        },
      }),
    );
    const opened = await blocked.context.newPage();
    for (const path of ["/docs/sending", "/docs/api/emails"]) {
      await opened.goto(backstamp.url + path);
      expect(await opened.locator("html.dark").count(), path).toBe(1);
      expect(await opened.locator("details.menu[open]").count(), path).toBe(1);
      expect(await opened.getByRole("button", { name: "Copy" }).count(), path).toBeGreaterThan(0);
      await opened.getByRole("searchbox").fill("retry safely");
      await opened.locator(".results a").first().waitFor();
    }
    expectNoErrors(blocked);
    await blocked.context.close();
  });

  test("finds operations, fields, errors and guides by words", async () => {
    await page.goto(`${backstamp.url}/docs/api`);
    for (const [words, address] of [
      ["scheduled_at send an email", "/docs/api/emails#send-an-email"],
      ["rotate dkim", "/docs/api/domains#rotate-a-domains-dkim-keys"],
      ["invalid_from_address", "/docs/api/errors#422-invalid_from_address"],
      ["email.bounced", "/docs/api/webhook-events#emailbounced"],
      ["retry safely", "/docs/sending#retry-safely"],
    ] as const) {
      await page.getByRole("searchbox").fill(words);
      await expect.poll(() => page.locator(".results a").first().getAttribute("href")).toBe(address);
    }
  });

  test("stores no key, contacts no other host, and logs no errors", async () => {
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(stored).not.toContain(key);
    expectNoErrors(watched);
  });
});
