import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

const patience = { timeout: 60_000 };
const hostile = `<img src=x onerror=alert(1)>"'`;

let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
/** The secrets as they were copied, the first key's and its successor's. */
let token: string;
let successor: string;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  profile = await openProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
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
const dialog = () => page.getByRole("dialog");
/** A card's label lies over its whole face. */
const choose = (label: string) => dialog().getByText(label, { exact: true }).click();
const statusOf = async (key: string, path = "/api/emails"): Promise<number> =>
  (await fetch(`${posthorn.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).status;
const left = async () => {
  const text = await page.getByText(/^\d+ of 20 left$/).textContent();
  return Number(text?.split(" ")[0]);
};

/** Takes the secret off the page by its button, and says that it is stored. */
async function storeSecret(): Promise<string> {
  await dialog().getByRole("button", { name: "Copy: API key" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText()), patience).toMatch(/^re_/);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText("nothing"));
  expect(await dialog().getByRole("figure", { name: "API key" }).textContent()).toContain(copied);
  await dialog().getByRole("button", { name: "I have stored it" }).click();
  await dialog().waitFor({ state: "detached" });
  return copied;
}

test("a key is made of words, and its secret shown once", async () => {
  await page.goto(`${posthorn.url}/console/keys`);
  await page.getByRole("button", { name: "Create key" }).first().click();
  await dialog().getByLabel("Name").waitFor(patience);
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByText("Give it a name.").waitFor();
  await dialog().getByLabel("Name").fill("Shop, production");
  await choose("Chosen permissions");
  await dialog().getByLabel("read domains and their DNS records").check();
  await choose("Chosen domains");
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByText("Tick at least one domain.").waitFor();
  await dialog().getByLabel("posthorn.test").check();
  await dialog().getByLabel("Ends").selectOption({ label: "In 90 days" });
  await dialog().getByText("Lower limits of its own").click();
  await dialog().getByLabel("Sending mail").fill("1000");
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByText("A whole number from 1 to 100.").waitFor();
  await dialog().getByLabel("Sending mail").fill("20");
  await expectNoBarriers(page);
  await takePictures(page, "key-create");
  await dialog().getByRole("button", { name: "Create key" }).click();
  await dialog().getByRole("heading", { name: "Your new key" }).waitFor(patience);
  const command = await dialog().locator("pre").textContent();
  await expectNoBarriers(page);
  // Escape would lose it.
  await page.keyboard.press("Escape");
  token = await storeSecret();
  expect(command).toContain(`Bearer ${token}`);
  expect(command).toContain("hello@posthorn.test");
  expect(await page.content()).not.toContain(token);
  await page.getByRole("link", { name: "Shop, production" }).waitFor(patience);
  await page.reload();
  expect(await page.content()).not.toContain(token);
  expectNothingOdd();
});

test("the copied secret sends a mail, and the gauge moves by as much", async () => {
  await page.getByRole("link", { name: "Shop, production" }).click();
  await page.getByRole("heading", { name: "Shop, production" }).waitFor(patience);
  await expect.poll(left, patience).toBe(20);
  await posthorn.send({ to: "delivered@posthorn.test", subject: "By the new key", html: "x" }, token);
  await expect.poll(left, patience).toBe(19);
  expect(await page.getByText("Own limit", { exact: true }).count()).toBe(1);
  expectNothingOdd();
});

test("calls that were refused stand there with the reason", async () => {
  expect(await statusOf(token, "/api/webhooks")).toBe(403);
  const from = {
    from: "Ann <ann@elsewhere.example>",
    to: "delivered@posthorn.test",
    subject: "x",
    html: "x",
  };
  await expect(posthorn.api("POST", "/emails", from, token)).rejects.toThrow("403");
  const refused = page.getByRole("list", { name: "Refused calls" });
  await refused.getByText("The key lacks the permission for this call").waitFor(patience);
  await refused.getByText("The key may not send from elsewhere.example").waitFor(patience);
  await expectNoBarriers(page);
  await takePictures(page, "key");
  expectNothingOdd();
});

test("a name is only ever text", async () => {
  await page.getByRole("button", { name: "Rename" }).click();
  await dialog().getByLabel("Name").fill(hostile);
  await dialog().getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: hostile }).waitFor(patience);
  await page.getByRole("link", { name: "API keys" }).first().click();
  await page.getByRole("link", { name: hostile }).waitFor(patience);
  await expectNoBarriers(page);
  await takePictures(page, "keys");
  await page.getByRole("link", { name: hostile }).click();
  expectNothingOdd();
});

test("rotated, both keys work until the old one ends", async () => {
  await page.getByRole("button", { name: "Rotate" }).click();
  await choose("An hour");
  await expectNoBarriers(page);
  await takePictures(page, "key-rotate");
  await dialog().getByRole("button", { name: "Rotate the key" }).click();
  await dialog().getByText("The old one works until it ends").waitFor(patience);
  successor = await storeSecret();
  expect(successor).not.toBe(token);
  for (const key of [token, successor]) expect(await statusOf(key)).toBe(200);
  await page.getByText("Ends in").first().waitFor(patience);
  await page.getByText("Replaced by").waitFor(patience);
  expectNothingOdd();
});

test("revoked, a key is refused, which shows too", async () => {
  await page.getByRole("button", { name: "Revoke" }).click();
  const question = page.getByRole("alertdialog");
  await question.getByText(/made \d+ calls today/).waitFor(patience);
  await expectNoBarriers(page);
  await takePictures(page, "key-revoke");
  await question.getByRole("button", { name: "Revoke the key" }).click();
  await page.getByText("Revoked", { exact: true }).first().waitFor(patience);
  await expect.poll(() => statusOf(token), patience).toBe(401);
  expect(await statusOf(successor)).toBe(200);
  await page.getByText("The key had expired or was revoked").waitFor(patience);
  expect(await page.getByRole("button", { name: "Rotate" }).count()).toBe(0);
  await page.goto(`${posthorn.url}/console/keys?state=revoked`);
  await page.getByRole("link", { name: hostile }).waitFor(patience);
  expectNothingOdd();
});

test("a key that does not exist says so", async () => {
  for (const id of ["01900000-0000-7000-8000-000000000000", "x"]) {
    await page.goto(`${posthorn.url}/console/keys/${id}`);
    await page.getByRole("heading", { name: "There is nothing here" }).waitFor();
  }
  profile.errors = profile.errors.filter(({ text }) => !text.includes("404"));
  expectNothingOdd();
});
