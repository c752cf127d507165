import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

const waitOptions = { timeout: 60_000 };
const reader = "delivered+reader@backstamp.test";

const { backstamp, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
afterEach(() => expectNoErrors(profile));

const dialog = () => page.getByRole("dialog").or(page.getByRole("alertdialog"));
const rowOf = (address: string) => page.getByRole("row").filter({ hasText: address });
const openMenuItem = async (item: string) => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

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
});
