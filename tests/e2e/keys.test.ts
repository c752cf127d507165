import { afterEach, expect, test } from "vitest";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

const waitOptions = { timeout: 60_000 };
const hostile = `<img src=x onerror=alert(1)>"'`;

/** The copied secrets of the first key and of its successor. */
let token: string;
let successor: string;

const { backstamp, profile, page } = await openSignedIn(
  { SMTP_URL: "capture:" },
  { permissions: ["clipboard-read", "clipboard-write"] },
);
afterEach(() => expectNoErrors(profile));

const dialog = () => page.getByRole("dialog");
/** Selects a radio card by its label, which covers the whole card. */
const choose = (label: string) => dialog().getByText(label, { exact: true }).click();
const statusOf = async (key: string, path = "/api/emails"): Promise<number> =>
  (await fetch(`${backstamp.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).status;
const readUsed = async () => {
  const text = await page
    .getByText(/^\d+ of 20 requests$/)
    .last()
    .textContent();
  return Number(text?.split(" ")[0]);
};

/** Copies the secret with its button, then confirms that it is stored. */
async function storeSecret(): Promise<string> {
  await dialog().getByRole("button", { name: "Copy: API key" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText()), waitOptions).toMatch(/^re_/);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText("nothing"));
  expect(await dialog().getByRole("figure", { name: "API key" }).textContent()).toContain(copied);
  await dialog().getByRole("button", { name: "I have stored it" }).click();
  await dialog().waitFor({ state: "detached" });
  return copied;
}

test("a key is created with chosen permissions, and its secret is shown once", async () => {
  await page.goto(`${backstamp.url}/console/keys`);
  await page.getByRole("button", { name: "Create key" }).first().click();
  await dialog().getByLabel("Name").waitFor(waitOptions);
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByText("Enter a name.").waitFor();
  await dialog().getByLabel("Name").fill("Shop, production");
  await choose("Custom permissions");
  await dialog().getByLabel("Read domains and their DNS records").check();
  await choose("Selected domains");
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByText("Select at least one domain.").waitFor();
  await dialog().getByLabel("backstamp.test").check();
  await dialog().getByLabel("Expires").selectOption({ label: "In 90 days" });
  await dialog().getByText("Custom rate limits").click();
  await dialog().getByLabel("Sending email").fill("1000");
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByText("Enter a whole number from 1 to 100.").waitFor();
  await dialog().getByLabel("Sending email").fill("20");
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "key-create");
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByRole("heading", { name: "New key" }).waitFor(waitOptions);
  await takePictures(page, "key-created");
  const command = await dialog().locator("pre").textContent();
  await expectNoAccessibilityViolations(page);
  // Escape must not close the dialog: the secret would be lost.
  await page.keyboard.press("Escape");
  token = await storeSecret();
  expect(command).toContain(`Bearer ${token}`);
  expect(command).toContain("hello@backstamp.test");
  expect(await page.content()).not.toContain(token);
  await page.getByRole("link", { name: "Shop, production" }).waitFor(waitOptions);
  await page.reload();
  expect(await page.content()).not.toContain(token);
});

test("the copied secret sends an email, and the gauge counts it", async () => {
  await page.getByRole("link", { name: "Shop, production" }).click();
  await page.getByRole("heading", { name: "Shop, production" }).waitFor(waitOptions);
  await expect.poll(readUsed, waitOptions).toBe(0);
  // The window slides and rounds down: in the first second of a new minute, one request of the last minute
  // counts as none.
  const sent = 10;
  for (let count = 0; count < sent; count += 1)
    await backstamp.send({ to: "delivered@backstamp.test", subject: "By the new key", html: "x" }, token);
  await expect.poll(readUsed, waitOptions).toBeGreaterThan(0);
  expect(await readUsed()).toBeLessThanOrEqual(sent);
  expect(await page.getByText("Custom limit", { exact: true }).count()).toBe(1);
});

test("a name is always rendered as text", async () => {
  await page.getByRole("button", { name: "Rename" }).click();
  await dialog().getByLabel("Name").fill(hostile);
  await dialog().getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: hostile }).waitFor(waitOptions);
  await page.getByRole("link", { name: "API keys" }).first().click();
  await page.getByRole("link", { name: hostile }).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "keys");
  await page.getByRole("link", { name: hostile }).click();
});

test("after a rotation both keys are valid until the old one expires", async () => {
  await page.getByRole("button", { name: "Rotate" }).click();
  await choose("1 hour");
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "key-rotate");
  await dialog().getByRole("button", { name: "Rotate key" }).click();
  await dialog().getByText("The old key expires").waitFor(waitOptions);
  await takePictures(page, "key-rotated");
  successor = await storeSecret();
  expect(successor).not.toBe(token);
  for (const key of [token, successor]) expect(await statusOf(key)).toBe(200);
  await page.getByText("Expires in").first().waitFor(waitOptions);
  await page.getByText("Replaced by").waitFor(waitOptions);
});

test("a revoked key is rejected and listed as revoked", async () => {
  await page.getByRole("button", { name: "Revoke" }).click();
  const confirmation = page.getByRole("alertdialog");
  await confirmation.getByText(/\d+ requests? today/).waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "key-revoke");
  await confirmation.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("Revoked", { exact: true }).first().waitFor(waitOptions);
  await expect.poll(() => statusOf(token), waitOptions).toBe(401);
  expect(await statusOf(successor)).toBe(200);
  await page.getByText("The key had expired or was revoked").waitFor(waitOptions);
  expect(await page.getByRole("button", { name: "Rotate" }).count()).toBe(0);
  await page.goto(`${backstamp.url}/console/keys?state=revoked`);
  await page.getByRole("link", { name: hostile }).waitFor(waitOptions);
});
