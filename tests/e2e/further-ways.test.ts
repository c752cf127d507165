import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoErrors, openBrowser, openProfile, signIn, type Watched } from "./browser";

/* Actions that the console also offers beside the usual way: by the palette or in a message. */

const slowPage = { timeout: 60_000 };
let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;
/** A key with the scope `full_access`. */
let key: string;
const api = (method: string, target: string, body?: unknown) => backstamp.api(method, target, body, key);

beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  const made = await backstamp.operate(
    ...["key", "create", "--name", "All", "--scopes", "full_access", "--domains", "all", "--json"],
  );
  key = JSON.parse(made).token;
  profile = await openProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  page = await profile.context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

test("a domain is added by the palette, and all its records are copied as a zone file", async () => {
  const name = "notices.elm-ash.example";
  await page.goto(`${backstamp.url}/console`);
  await page.waitForLoadState("networkidle");
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("option", { name: "Add domain", exact: true }).click(slowPage);
  await page.getByRole("dialog").getByRole("textbox").first().fill(name, slowPage);
  await page.keyboard.press("Enter");
  await page.getByText("All records as a zone file").click(slowPage);
  await page.getByRole("button", { name: `Copy: ${name}.zone` }).click(slowPage);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied, slowPage).toContain("_domainkey");
  const lines = (await copied()).split("\n");
  const { data } = await api("GET", "/domains");
  const { id } = data.find((each: { name: string }) => each.name === name);
  const { records }: { records: { host: string; type: string }[] } = await api("GET", `/domains/${id}`);
  expect(records.length).toBeGreaterThan(2);
  const isCopied = ({ host, type }: (typeof records)[number]) =>
    lines.some((line) => line.includes(`${host}. `) && line.includes(` IN ${type} `));
  expect(records.filter((record) => !isCopied(record))).toEqual([]);
  expectNoErrors(profile);
});

test("the message after publishing a template rolls back to the version before", async () => {
  const { id } = await api("POST", "/templates", { name: "Receipt", subject: "x", html: "<h1>First</h1>" });
  await api("POST", `/templates/${id}/publish`, {});
  const confirmation = page.getByRole("alertdialog");
  await page.goto(`${backstamp.url}/console/templates/${id}`);
  await page.getByRole("textbox", { name: "HTML" }).click(slowPage);
  await page.keyboard.insertText("<p>Goodbye</p>");
  await page.getByRole("button", { name: "Publish…" }).click(slowPage);
  await confirmation.getByRole("button", { name: "Publish" }).click(slowPage);
  await page.getByRole("button", { name: "Roll back to version 1…" }).click(slowPage);
  expect((await api("GET", `/templates/${id}`)).html).toContain("<p>Goodbye</p>");
  await confirmation.getByRole("button", { name: "Roll back" }).click(slowPage);
  await page.getByText("Rolled back to version 1").first().waitFor(slowPage);
  expect((await api("GET", `/templates/${id}`)).html).toBe("<h1>First</h1>");
  expectNoErrors(profile);
});
