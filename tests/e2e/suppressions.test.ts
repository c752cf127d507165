import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import {
  expectNoAccessibilityViolations,
  expectNoErrors,
  openBrowser,
  openProfile,
  signIn,
  takePictures,
  type Watched,
} from "./browser";

const waitOptions = { timeout: 60_000 };
const reader = "delivered+reader@backstamp.test";

let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;

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

const dialog = () => page.getByRole("dialog").or(page.getByRole("alertdialog"));
const rowOf = (address: string) => page.getByRole("row").filter({ hasText: address });
const openMenuItem = async (item: string) => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

/** Sends an email to the reader, and returns its final status. */
async function statusOfMail(): Promise<string> {
  const id = await backstamp.send({ to: reader, subject: "Hello", html: "<p>Hello</p>" });
  await page.goto(`${backstamp.url}/console/emails/${id}`);
  const recipient = page
    .getByRole("region", { name: /recipient/i })
    .getByRole("listitem")
    .first();
  const status = recipient.getByText(/^(Delivered|Suppressed)$/).first();
  await status.waitFor(waitOptions);
  return (await status.textContent()) ?? "";
}

test("pasted addresses are added, and invalid ones stay for correction", async () => {
  await page.goto(`${backstamp.url}/console/suppressions`);
  await page.getByRole("heading", { name: "No suppressed addresses" }).waitFor();
  await page.getByRole("button", { name: "Suppress addresses" }).click();
  await dialog().getByLabel("Addresses").fill(`Ann <${reader}>, gone@example.net\nnobody`, waitOptions);
  await dialog().getByRole("button", { name: "Suppress", exact: true }).click();
  await dialog().getByRole("region", { name: "Not added" }).getByText("nobody").waitFor(waitOptions);
  expect(await dialog().getByLabel("Addresses").inputValue()).toBe("nobody");
  await expectNoAccessibilityViolations(page);
  await dialog().getByRole("button", { name: "Close" }).last().click();
  await rowOf(reader).waitFor(waitOptions);
  await rowOf("gone@example.net").getByText("Manual", { exact: true }).waitFor();
  const focusedRow = async () => {
    await page.keyboard.press("j");
    return page.evaluate(() => document.activeElement?.closest("tr")?.textContent ?? "");
  };
  await expect.poll(focusedRow, waitOptions).toContain("@");
  await takePictures(page, "suppressions");
  expectNoErrors(profile);
});

test("an email to a suppressed address is not sent until the address is removed", async () => {
  expect(await statusOfMail()).toBe("Suppressed");
  await page.goto(`${backstamp.url}/console/suppressions`);
  await page.getByLabel("Search by address").fill("Delivered+");
  await page.waitForURL(/search=Delivered/);
  await expect.poll(() => page.getByRole("row").count(), waitOptions).toBe(2);
  await page.getByRole("button", { name: `Remove from list: ${reader}` }).click();
  await dialog().getByText("This address was added manually.").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await dialog().getByRole("button", { name: "Remove from list" }).click();
  await page.getByRole("heading", { name: "No results" }).waitFor(waitOptions);
  expect(await statusOfMail()).toBe("Delivered");
  expectNoErrors(profile);
});

test("a CSV file is imported, and its rejected lines can be downloaded", async () => {
  await page.goto(`${backstamp.url}/console/suppressions`);
  await openMenuItem("Import CSV…");
  const lines = Array.from({ length: 6_000 }, (_, n) => `reader-${n}@example.org`);
  const file = ["email", ...lines, "gone@example.net", "=nobody"].join("\n");
  await dialog()
    .locator("input[type=file]")
    .setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(file) }, waitOptions);
  await dialog().getByText("6,000 addresses suppressed, 1 already on the list.").waitFor(waitOptions);
  await dialog().getByText("1 invalid line was skipped.").waitFor();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "suppressions-imported");
  const [rejected] = await Promise.all([
    page.waitForEvent("download"),
    dialog().getByRole("button", { name: "Download" }).click(),
  ]);
  expect(readFileSync(await rejected.path(), "utf8")).toMatch(/^"line","reason"\r\n"6003","/);
  await dialog().getByRole("button", { name: "Done" }).click();
  await page.getByLabel("Search by address").fill("reader-5999@");
  await rowOf("reader-5999@example.org").waitFor(waitOptions);
  expectNoErrors(profile);
});

test("the list is exported with or without filters, and can be imported again", async () => {
  const exportFile = async () => {
    const [exported] = await Promise.all([page.waitForEvent("download"), openMenuItem("Export CSV")]);
    return readFileSync(await exported.path());
  };
  const linesOf = (file: Buffer) => file.toString("utf8").split("\r\n").filter(Boolean);
  const [, only, ...rest] = linesOf(await exportFile());
  expect(only).toContain("reader-5999@example.org");
  expect(rest).toEqual([]);
  await page.getByLabel("Search by address").fill("");
  await page.waitForURL((url) => url.searchParams.get("search") === null, waitOptions);
  const file = await exportFile();
  expect(linesOf(file)).toHaveLength(1 + 6_001);
  await openMenuItem("Import CSV…");
  await dialog()
    .locator("input[type=file]")
    .setInputFiles({ name: "again.csv", mimeType: "text/csv", buffer: file }, waitOptions);
  await dialog().getByText("6,001 already on the list.").waitFor(waitOptions);
  expectNoErrors(profile);
});
