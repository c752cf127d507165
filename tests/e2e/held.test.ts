import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../support/processes/program";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoErrors, openBrowser, openProfile, signIn, takePictures } from "./browser";

const waitOptions = { timeout: 60_000 };
const settings = { SMTP_URL: "capture:", BACKSTAMP_BACKUP_PASSPHRASE: "a passphrase of this test" };

let folder: string;
let restored: Backstamp | undefined;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-e2e-held-"));
});
afterAll(async () => {
  await restored?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("the operator decides in the console what happens to the email that a restore holds", async () => {
  const first = await startBackstamp(settings);
  await first.operate("queue", "pause", "--reason", "The relay is being replaced");
  const id = await first.send({ to: "ben@example.net", subject: "Held", html: "<p>x</p>" });
  await first.operate("backup", path.join(folder, "backup.tar.gz"));
  await first.stop();
  const dataDir = path.join(folder, "data");
  const { code, stdout, stderr } = await runProgram(
    "server/startup/admin.ts",
    ["restore", path.join(folder, "backup.tar.gz")],
    { env: { ...settings, BACKSTAMP_DATA_DIR: dataDir } },
  );
  expect(code, `${stdout}${stderr}`).toBe(0);

  restored = await startBackstamp({ ...settings, BACKSTAMP_DATA_DIR: dataDir });
  const browser = await openBrowser();
  const profile = await openProfile(browser);
  const page = await profile.context.newPage();
  await signIn(page, restored.url, ADMIN.email, ADMIN.password);
  await page.getByRole("button", { name: "Review held email" }).click(waitOptions);
  const dialog = page.locator("[role=dialog], [role=alertdialog]");
  await dialog.waitFor(waitOptions);
  await takePictures(page, "held");
  await dialog.getByText("Cancel all", { exact: true }).click();
  await dialog
    .getByRole("button", { name: /^Cancel/ })
    .last()
    .click();
  await dialog.getByRole("button", { name: "Done" }).waitFor(waitOptions);
  await takePictures(page, "held-canceled");
  await page.goto(`${restored.url}/console/emails/${id}`);
  await page.getByText("Canceled").first().waitFor(waitOptions);
  expectNoErrors(profile);
  await browser.close();
});
