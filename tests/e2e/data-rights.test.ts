import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ADMIN, openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

const ann = "ann@example.net";
const waitOptions = { timeout: 60_000 };

const { backstamp, profile: watched, page } = await openSignedIn({ SMTP_URL: "capture:" });
await backstamp.send({ to: [ann], subject: "Your visit", text: "See you on Monday." });

test("the data stored for an address is exported, then erased, with a receipt that does not contain it", async () => {
  await page.goto(`${backstamp.url}/console/settings/personal-data`);
  await page.getByRole("heading", { name: "No erased addresses" }).waitFor(waitOptions);
  for (const name of ["Export", "Erase…"]) {
    await page.getByLabel("Email address").fill(name);
    await page.getByRole("button", { name }).click();
    await page.getByText("Enter a full address, such as ann@example.com.").waitFor();
    await expectNoAccessibilityViolations(page);
  }
  expect(await page.getByRole("alertdialog").count()).toBe(0);
  await page.getByLabel("Email address").fill(ann);
  await expectNoAccessibilityViolations(page);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const file = await download;
  expect(file.url()).not.toContain("example.net");
  const lines = await readFile(await file.path(), "utf8");
  expect(lines).toContain(ann);
  await page.getByRole("button", { name: "Erase…" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText(`Erase ${ann}?`).waitFor();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "personal-data-erase");
  await dialog.getByRole("button", { name: "Erase", exact: true }).click();
  // The worker is done after its second pass, which tests/services/erasures.test.ts reads.
  await page
    .getByText(/^(In progress|Erased)/)
    .first()
    .waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "personal-data");
  expect(await page.getByRole("list").last().textContent()).not.toContain(ann);
  expectNoErrors(watched);
});

test("the deletion of a team needs its name and the password, stops its keys, and can be canceled", async () => {
  const token = await backstamp.createKey("--domains", "all");
  const status = async () =>
    (await fetch(`${backstamp.url}/api/domains`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status()).toBe(200);
  await page.goto(`${backstamp.url}/console/settings/team`);
  const name = await page.getByLabel("Team name").inputValue();
  await page.getByRole("button", { name: "Delete team…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/to confirm$/).fill("another team");
  await dialog.getByLabel("Password").fill(ADMIN.password);
  await dialog.getByRole("button", { name: "Delete team" }).click();
  await dialog.getByText("To confirm, enter the name of the team").waitFor();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "team-delete");
  await dialog.getByLabel(/to confirm$/).fill(name);
  await dialog.getByRole("button", { name: "Delete team" }).click();
  await page.getByText("The team will be deleted").first().waitFor(waitOptions);
  await expect.poll(status, waitOptions).toBe(401);
  await takePictures(page, "team-deletion-requested");
  await page.getByRole("button", { name: "Cancel deletion" }).click();
  await page.getByRole("button", { name: "Delete team…" }).waitFor(waitOptions);
  await expect.poll(status, waitOptions).toBe(200);
});
