import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { API_SECTIONS } from "#server/shared/guides";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import {
  expectDarkAndNarrow,
  expectNoAccessibilityViolations,
  expectNoErrors,
  openBrowser,
  openProfile,
  signIn,
  takePictures,
  type Watched,
} from "./browser";
import { measureScripts } from "./script-size";

/** In KB of 1,024 bytes, compressed. */
const scriptKb = { min: 2, max: 20 };
const pages = API_SECTIONS.flatMap(({ pages: names }) => names).map((name) =>
  name === "" ? "/docs/api" : `/docs/api/${name}`,
);

/** The first page, the one with most fields, and the lists. */
const MEASURED = ["/docs/api", "/docs/api/emails", "/docs/api/errors", "/docs/api/webhook-events"];

let backstamp: Backstamp;
let browser: Browser;
let watched: Watched;
let page: Page;
let key: string;
beforeAll(async () => {
  [backstamp, browser] = await Promise.all([startBackstamp({ SMTP_URL: "capture:" }), openBrowser()]);
  watched = await openProfile(browser);
  page = await watched.context.newPage();
  const args = ["key", "create", "--name", "docs", "--scopes", "full_access", "--json"];
  key = JSON.parse(await backstamp.operate(...args, "--domains", "backstamp.test")).token;
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

const operation = (id: string) => page.locator(`.operation[data-id="${id}"]`);

describe("the reference", () => {
  test("shows every operation without sign-in", async () => {
    const document = await (await fetch(`${backstamp.url}/api/openapi.json`)).json();
    const count = Object.values<object>(document.paths).flatMap((methods) => Object.keys(methods)).length;
    await page.goto(`${backstamp.url}/docs/api`);
    expect(await page.locator(".operations li").count()).toBe(count);
    await page.getByRole("link", { name: "POST /api/emails Send an email" }).click();
    await page.waitForURL(`${backstamp.url}/docs/api/emails#postEmails`);
    expect(
      await operation("postEmails")
        .locator("code.name", { hasText: /^from$/ })
        .first()
        .isVisible(),
    ).toBe(true);
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

  test("has the menu, the fields and the samples beside each other from 1,280 px", async () => {
    const opened = await watched.context.newPage();
    await opened.setViewportSize({ width: 1280, height: 760 });
    await opened.goto(`${backstamp.url}/docs/api/emails`);
    const columns = [".menu nav", ".operation .about", ".operation .beside"];
    const boxes = await Promise.all(columns.map((column) => opened.locator(column).first().boundingBox()));
    const [menu, about, beside] = boxes.map((box) => {
      if (!box) throw new Error("A column is not visible");
      return { left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height };
    });
    if (!menu || !about || !beside) throw new Error("A column is missing");
    for (const [left, right] of [
      [menu, about],
      [about, beside],
    ] as const) {
      expect(left.right).toBeLessThanOrEqual(right.left);
      expect(Math.max(left.top, right.top)).toBeLessThan(Math.min(left.bottom, right.bottom));
    }
    expect(beside.right).toBeLessThanOrEqual(1280);
    await opened.close();
  });

  test("shows samples with the address of this host, in the language that the reader chose", async () => {
    await page.goto(`${backstamp.url}/docs/api/emails`);
    const code = operation("postEmails").locator(".sample code").locator("visible=true");
    expect(await code.textContent()).toContain(`curl -X POST "${backstamp.url}/api/emails"`);
    await operation("postEmails").getByRole("tab", { name: "Python", exact: true }).click();
    await expect.poll(() => code.textContent()).toContain("requests.post(");
    await operation("postEmails").getByRole("tab", { name: "PHP", exact: true }).click();
    await expect.poll(() => code.textContent()).toContain(`"${backstamp.url}/api/emails"`);
    await page.goto(`${backstamp.url}/docs/api/domains`);
    await operation("postDomains").getByRole("tab", { name: "Node", exact: true, selected: false }).click();
    const other = operation("getDomains").locator(".sample code").locator("visible=true");
    expect(await other.textContent()).toContain("resend.domains.list(");
    expect(await other.textContent()).not.toContain(key);
  });

  test("sends a request with the API key of the user, and shows the response", async () => {
    await page.goto(`${backstamp.url}/docs/api/emails`);
    await operation("postEmails").getByText("Try it").click();
    await operation("postEmails").getByLabel("API key").fill(key);
    await expectNoAccessibilityViolations(page);
    await operation("postEmails").getByRole("button", { name: "Send request" }).click();
    const result = operation("postEmails").locator(".result");
    await expect
      .poll(() => result.getByRole("status").textContent(), { timeout: 30_000 })
      .toMatch(/^200 .* ms$/);
    const sent = JSON.parse((await result.locator(".body").textContent()) ?? "");
    expect(sent.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(await result.locator(".headers").textContent()).toMatch(/^x-ratelimit-remaining: \d+$/m);
    await result.getByText("Headers").click();
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "docs-call");

    // The other operations of the page have the same key.
    await operation("getEmailsById").getByText("Try it").click();
    await operation("getEmailsById").getByLabel("id", { exact: true }).fill(sent.id);
    await operation("getEmailsById").getByRole("button", { name: "Send request" }).click();
    const read = operation("getEmailsById").locator(".result");
    await expect.poll(() => read.getByRole("status").textContent(), { timeout: 30_000 }).toMatch(/^200 /);
    expect(JSON.parse((await read.locator(".body").textContent()) ?? "")).toMatchObject({
      id: sent.id,
      subject: "First email",
    });
    await operation("getEmailsById").getByLabel("Use the key in samples").check();
    expect(await operation("getEmailsById").locator(".sample code").first().textContent()).toContain(key);
  });

  test("does not use the session of the console, and shows the error of a request without a key", async () => {
    await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
    await page.goto(`${backstamp.url}/docs/api/emails`);
    expect(await operation("getEmails").getByLabel("API key").inputValue()).toBe("");
    const request = page.waitForRequest((each) => each.url().includes("/api/emails"));
    await operation("getEmails").getByText("Try it").click();
    await operation("getEmails").getByRole("button", { name: "Send request" }).click();
    expect(await (await request).headerValue("cookie")).toBeNull();
    const result = operation("getEmails").locator(".result");
    await expect.poll(() => result.getByRole("status").textContent()).toMatch(/^401 /);
    expect(JSON.parse((await result.locator(".body").textContent()) ?? "")).toEqual({
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
      ["scheduled_at send an email", "/docs/api/emails#postEmails.body.scheduled_at"],
      ["rotate dkim", "/docs/api/domains#postDomainsByIdDkimRotate"],
      ["invalid_from_address", "/docs/api/errors#invalid_sender"],
      ["email.bounced", "/docs/api/webhook-events#email.bounced"],
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
