import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { type Backstamp, startBackstamp } from "./backstamp";
import { openBrowser, openProfile, type Watched } from "./browser";

const pictures = path.join(projectRoot, "tests/.artifacts");

let backstamp: Backstamp;
let browser: Browser;
let watched: Watched;
let page: Page;
let key: string;
beforeAll(async () => {
  mkdirSync(pictures, { recursive: true });
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

const sendMail = () => page.locator("#operations-Emails-postEmails");

describe("the reference", () => {
  test("shows every operation without sign-in", async () => {
    await page.goto(`${backstamp.url}/docs/api`);
    await page.getByRole("heading", { name: /^Backstamp/ }).waitFor({ timeout: 60_000 });
    const document = await (await fetch(`${backstamp.url}/api/openapi.json`)).json();
    const count = Object.values<object>(document.paths).flatMap((methods) => Object.keys(methods)).length;
    expect(await page.locator(".opblock").count()).toBe(count);
    await page.screenshot({ path: path.join(pictures, "docs-list.png") });
  });

  test("shows code samples for curl, Node and Python", async () => {
    await sendMail().locator(".opblock-summary-control").click();
    const code = sendMail().locator(".code-samples pre");
    await expect.poll(() => code.textContent()).toMatch(/^curl -X POST "\$BACKSTAMP_URL\/api\/emails"/);
    await sendMail().getByRole("button", { name: "Node", exact: true }).click();
    await expect.poll(() => code.textContent()).toContain("await fetch(BACKSTAMP_URL");
    await sendMail().getByRole("button", { name: "Python", exact: true }).click();
    await expect.poll(() => code.textContent()).toContain("requests.post(");
  });

  test("sends a request with the API key of the user, and shows the response", async () => {
    await page.locator(".auth-wrapper .authorize").click();
    await page.locator("#auth-bearer-value, .auth-container input").first().fill(key);
    await page.locator(".auth-btn-wrapper .authorize").first().click();
    await page.locator(".auth-btn-wrapper .btn-done").first().click();
    await sendMail().locator(".execute").click();
    const answer = sendMail().locator(".live-responses-table .response").first();
    await expect
      .poll(() => answer.locator(".response-col_status").textContent(), { timeout: 30_000 })
      .toMatch(/^200/);
    expect(await answer.textContent()).toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7/);
    await page.screenshot({ path: path.join(pictures, "docs-call.png") });
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(() => page.locator("html.dark-mode").count()).toBe(1);
    await sendMail().scrollIntoViewIfNeeded();
    await page.screenshot({ path: path.join(pictures, "docs-dark.png") });
  });

  test("stores no key, contacts no other host, and logs no errors", async () => {
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(kept).not.toContain(key);
    expect(watched.foreign).toEqual([]);
    expect(watched.dialogs).toEqual([]);
    expect(watched.errors).toEqual([]);
  });
});
