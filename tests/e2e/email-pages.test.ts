import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoErrors, openBrowser, openProfile, signIn, type Watched } from "./browser";

let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;
const patience = { timeout: 60_000 };

beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

test("filters are saved under a name, opened with one click, renamed and deleted", async () => {
  await page.goto(`${backstamp.url}/console/emails?status=failed,bounced`);
  await page.getByTitle("Time", { exact: true }).selectOption({ label: "Today" });
  await page.waitForURL(/since=/);
  await page.getByRole("button", { name: "Save filter…" }).click();
  await page.getByLabel("Name").fill("Failed today");
  await page.getByRole("dialog").getByRole("button", { name: "Save filter" }).click();
  const links = page.getByRole("navigation", { name: "Saved filters" }).getByRole("link");
  await expect.poll(() => links.allTextContents(), patience).toEqual(["Failed today"]);
  expect(await links.first().getAttribute("aria-current")).toBe("true");
  await page.goto(`${backstamp.url}/console/emails`);
  await links.first().click();
  await page.waitForURL(/status=.*since=/);
  expect(await page.getByTitle("Time", { exact: true }).inputValue()).toBe("today");
  await page.goBack();
  await page.waitForURL(/emails$/);
  await page.getByRole("button", { name: "Manage saved filters" }).click();
  await page.getByLabel("Name of Failed today").fill("Failures");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("button", { name: "Delete Failures" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await links.count()).toBe(0);
  expectNoErrors(profile);
});
