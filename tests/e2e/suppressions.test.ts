import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

const patience = { timeout: 60_000 };
const reader = "delivered+reader@posthorn.test";

let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

const expectNothingOdd = () => {
  expect(profile.dialogs).toEqual([]);
  expect(profile.foreign).toEqual([]);
  expect(profile.errors).toEqual([]);
};
const dialog = () => page.getByRole("dialog").or(page.getByRole("alertdialog"));
const rowOf = (address: string) => page.getByRole("row").filter({ hasText: address });
const more = async (item: string) => {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

/** Sends to the reader, and waits until it is known what became of it. */
async function statusOfMail(): Promise<string> {
  const id = await posthorn.send({ to: reader, subject: "Hello", html: "<p>Hello</p>" });
  await page.goto(`${posthorn.url}/console/emails/${id}`);
  const recipient = page
    .getByRole("region", { name: /recipient/i })
    .getByRole("listitem")
    .first();
  const ending = recipient.getByText(/^(Delivered|Suppressed)$/).first();
  await ending.waitFor(patience);
  return (await ending.textContent()) ?? "";
}

test("addresses are pasted, and what is none is told and left to mend", async () => {
  await page.goto(`${posthorn.url}/console/suppressions`);
  await page.getByRole("heading", { name: "Nobody is suppressed" }).waitFor();
  await page.getByRole("button", { name: "Suppress addresses" }).click();
  await dialog().getByLabel("Addresses").fill(`Ann <${reader}>, gone@example.net\nnobody`, patience);
  await dialog().getByRole("button", { name: "Suppress", exact: true }).click();
  await dialog().getByRole("region", { name: "Not added" }).getByText("nobody").waitFor(patience);
  expect(await dialog().getByLabel("Addresses").inputValue()).toBe("nobody");
  await expectNoBarriers(page);
  await dialog().getByRole("button", { name: "Close" }).last().click();
  await rowOf(reader).waitFor(patience);
  await rowOf("gone@example.net").getByText("By hand").waitFor();
  const stoodOn = async () => {
    await page.keyboard.press("j");
    return page.evaluate(() => document.activeElement?.closest("tr")?.textContent ?? "");
  };
  await expect.poll(stoodOn, patience).toContain("@");
  await takePictures(page, "suppressions");
  expectNothingOdd();
});

test("a mail to one of them is set aside, until it is taken off the list", async () => {
  expect(await statusOfMail()).toBe("Suppressed");
  await page.goto(`${posthorn.url}/console/suppressions`);
  await page.getByLabel("Address, or its first letters").fill("Delivered+");
  await page.waitForURL(/search=Delivered/);
  await expect.poll(() => page.getByRole("row").count(), patience).toBe(2);
  await page.getByRole("button", { name: `Take ${reader} off the list` }).click();
  await dialog().getByText("Somebody put it on the list by hand.").waitFor(patience);
  await expectNoBarriers(page);
  await dialog().getByRole("button", { name: "Take it off the list" }).click();
  await page.getByRole("heading", { name: "No address matches" }).waitFor(patience);
  expect(await statusOfMail()).toBe("Delivered");
  expectNothingOdd();
});

test("a file is imported line by line, and what holds no address can be taken along", async () => {
  await page.goto(`${posthorn.url}/console/suppressions`);
  await more("Import CSV…");
  const lines = Array.from({ length: 6_000 }, (_, n) => `reader-${n}@example.org`);
  const file = ["email", ...lines, "gone@example.net", "=nobody"].join("\n");
  await dialog()
    .locator("input[type=file]")
    .setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(file) }, patience);
  await dialog().getByText("6,000 addresses suppressed, 1 was on the list already.").waitFor(patience);
  await dialog().getByText("1 line holds no address and was left out.").waitFor();
  await expectNoBarriers(page);
  await takePictures(page, "suppressions-imported");
  const [refused] = await Promise.all([
    page.waitForEvent("download"),
    dialog().getByRole("button", { name: "Download them" }).click(),
  ]);
  expect(readFileSync(await refused.path(), "utf8")).toMatch(/^"line","why"\r\n"6003","/);
  await dialog().getByRole("button", { name: "Done" }).click();
  await page.getByLabel("Address, or its first letters").fill("reader-5999@");
  await rowOf("reader-5999@example.org").waitFor(patience);
  expectNothingOdd();
});

test("the list is exported as far as the filters find it, or whole, and read back", async () => {
  const take = async () => {
    const [exported] = await Promise.all([page.waitForEvent("download"), more("Export CSV")]);
    return readFileSync(await exported.path());
  };
  const linesOf = (file: Buffer) => file.toString("utf8").split("\r\n").filter(Boolean);
  const [, only, ...rest] = linesOf(await take());
  expect(only).toContain("reader-5999@example.org");
  expect(rest).toEqual([]);
  await page.getByLabel("Address, or its first letters").fill("");
  await page.waitForURL((url) => url.searchParams.get("search") === null, patience);
  const file = await take();
  expect(linesOf(file)).toHaveLength(1 + 6_001);
  await more("Import CSV…");
  await dialog()
    .locator("input[type=file]")
    .setInputFiles({ name: "again.csv", mimeType: "text/csv", buffer: file }, patience);
  await dialog().getByText("6,001 were on the list already.").waitFor(patience);
  expectNothingOdd();
});
