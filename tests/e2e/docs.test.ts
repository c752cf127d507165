import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes";
import { openBrowser, openProfile, type Watched } from "./browser";
import { type Posthorn, startPosthorn } from "./posthorn";

const pictures = path.join(projectRoot, "tests/.artifacts");

let posthorn: Posthorn;
let browser: Browser;
let watched: Watched;
let page: Page;
let key: string;
beforeAll(async () => {
  mkdirSync(pictures, { recursive: true });
  [posthorn, browser] = await Promise.all([startPosthorn({ SMTP_URL: "capture:" }), openBrowser()]);
  watched = await openProfile(browser);
  page = await watched.context.newPage();
  const args = ["key", "create", "--name", "docs", "--scopes", "full_access", "--json"];
  key = JSON.parse(await posthorn.operate(...args, "--domains", "posthorn.test")).token;
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

const sendMail = () => page.locator("#operations-Emails-postEmails");

describe("the reference", () => {
  test("shows every operation by its noun, to somebody who is not signed in", async () => {
    await page.goto(`${posthorn.url}/docs`);
    await page.getByRole("heading", { name: /^Posthorn/ }).waitFor({ timeout: 60_000 });
    const document = await (await fetch(`${posthorn.url}/api/openapi.json`)).json();
    const count = Object.values<object>(document.paths).flatMap((methods) => Object.keys(methods)).length;
    expect(await page.locator(".opblock").count()).toBe(count);
    await page.screenshot({ path: path.join(pictures, "docs-list.png") });
  });

  test("shows a call in curl, Node and Python", async () => {
    await sendMail().locator(".opblock-summary-control").click();
    const code = sendMail().locator(".code-samples pre");
    await expect.poll(() => code.textContent()).toMatch(/^curl -X POST "\$POSTHORN_URL\/api\/emails"/);
    await sendMail().getByRole("button", { name: "Node", exact: true }).click();
    await expect.poll(() => code.textContent()).toContain("await fetch(POSTHORN_URL");
    await sendMail().getByRole("button", { name: "Python", exact: true }).click();
    await expect.poll(() => code.textContent()).toContain("requests.post(");
  });

  test("makes a call with the reader's key, and shows its answer", async () => {
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

  test("keeps no key, asks no other host for anything, and leaves no error behind", async () => {
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(kept).not.toContain(key);
    expect(watched.foreign).toEqual([]);
    expect(watched.dialogs).toEqual([]);
    expect(watched.errors).toEqual([]);
  });
});
