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

/*
 * The first evening with a new installation that captures all email, as `npm run dev` does: every step of the
 * setup can be done.
 */

const waitOptions = { timeout: 60_000 };

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

const setup = () => page.getByRole("region", { name: "Set up sending" });
const dialog = () => page.locator("[role=dialog], [role=alertdialog]");
const open = async (path: string) => {
  await page.goto(backstamp.url + path);
  await page.waitForLoadState("networkidle");
};

test("outgoing email is done in capture mode, and the domain step opens the form of a new domain", async () => {
  await open("/console");
  const outgoing = setup().getByRole("listitem").filter({ hasText: "Outgoing email" });
  await outgoing.getByText("(done)").waitFor({ ...waitOptions, state: "attached" });
  await setup().getByText("2 of 5 done").waitFor(waitOptions);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "setup-capture");
  await setup().getByRole("link", { name: "Add a domain" }).click();
  await dialog().getByLabel("Domain").waitFor(waitOptions);
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  // The form does not open again with the page.
  await page.reload();
  await page.getByRole("heading", { name: "Domains", level: 1 }).waitFor(waitOptions);
  expect(await dialog().count()).toBe(0);
  expectNoErrors(profile);
});

test("keys that the setup creates have names of their own", async () => {
  await open("/console");
  for (let nth = 1; nth <= 2; nth++) {
    await setup()
      .getByRole("button", { name: /^Create/ })
      .click(waitOptions);
    await setup().getByRole("button", { name: "I have stored it" }).click(waitOptions);
  }
  const { data: keys } = JSON.parse(await backstamp.operate("key", "list", "--json"));
  const names: string[] = keys.map(({ name }: { name: string }) => name);
  expect(names).toHaveLength(3);
  expect(new Set(names).size).toBe(3);
});

test("a test email is addressed to a recipient that accepts it, also with a verified domain", async () => {
  await backstamp.operate("domain", "add", "shop.example", "--verified");
  const made = ["key", "create", "--name", "Templates", "--scopes", "templates:write", "--json"];
  const { token } = JSON.parse(await backstamp.operate(...made));
  const template = { name: "Receipt", subject: "Receipt", html: "<p>Thanks</p>", from: "hello@shop.example" };
  const { id } = await backstamp.api("POST", "/templates", template, token);
  const delivered = page.getByText("Delivered", { exact: true }).first();
  const send = async (button: string) => {
    expect(await dialog().getByLabel("To").inputValue()).not.toBe("");
    await dialog().getByRole("button", { name: button }).click();
    await dialog().getByRole("link", { name: "View email" }).click(waitOptions);
    await delivered.waitFor(waitOptions);
  };
  await open("/console");
  await setup().getByRole("button", { name: /^Send/ }).click(waitOptions);
  await dialog().getByLabel("To").waitFor(waitOptions);
  await send("Send test email");
  await open(`/console/templates/${id}`);
  await page.getByRole("button", { name: "Send test" }).click(waitOptions);
  await dialog().getByLabel("To").waitFor(waitOptions);
  await send("Send test");
});
