import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

const patience = { timeout: 60_000 };

let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
/** A key that may do everything. */
let key: string;
let address: string;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  const made = await posthorn.operate("key", "create", "--name", "Shop", "--scopes", "full_access", "--json");
  key = JSON.parse(made).token;
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
const editor = () => page.getByRole("textbox", { name: "HTML" });
const preview = () => page.frameLocator('iframe[title="The mail as its reader sees it"]');
const inPreview = (text: string) => preview().getByText(text).first().waitFor(patience);
const sendWith = async (variables: object) => {
  const id = await posthorn.send(
    { to: "delivered@posthorn.test", template: { id: "order-receipt", variables } },
    key,
  );
  const mail = await posthorn.api("GET", `/emails/${id}`, undefined, key);
  return { subject: mail.subject as string, html: mail.html as string };
};

/** Puts other text into the editor, as somebody does who selects all and pastes. */
async function write(html: string): Promise<void> {
  await editor().click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(html);
}
const saveByKey = async () => {
  await page.keyboard.press("ControlOrMeta+s");
  await page
    .getByRole("status")
    .getByText(/^saved/)
    .waitFor(patience);
};

test("a template is made as a draft, and leads into its editor", async () => {
  await page.goto(`${posthorn.url}/console/templates`);
  await page.getByRole("heading", { name: "No template yet" }).waitFor();
  await page.getByRole("button", { name: "Create template" }).first().click();
  await dialog().getByRole("button", { name: "Create and edit" }).click(patience);
  await dialog().getByText("Give the template a name.").waitFor();
  await dialog().getByLabel("Name", { exact: true }).fill("Order receipt");
  expect(await dialog().getByLabel("Alias").inputValue()).toBe("order-receipt");
  await expectNoBarriers(page);
  await dialog().getByRole("button", { name: "Create and edit" }).click();
  await page.waitForURL(/\/console\/templates\/[0-9a-f-]{36}$/, patience);
  address = page.url();
  await page.getByText("Draft", { exact: true }).waitFor();
  await inPreview("Hello {{NAME}},");
  expectNothingOdd();
});

test("what is typed is marked, named and shown, with the sample values", async () => {
  await editor().waitFor(patience);
  await write("<h1>Order {{ORDER}}</h1><p>Thank you, {{NAME}}. {{{NOTE}}}</p>");
  await page.getByLabel("Subject", { exact: true }).fill("Order {{ORDER}}");
  await page.getByLabel("From", { exact: true }).fill("Alder & Oak <shop@posthorn.test>");
  await page.getByLabel("Sample of ORDER").fill("10492");
  await page.getByLabel("Sample of NAME").fill("{{ORDER}} <b>Ann</b>");
  await page.getByLabel("Sample of NOTE").fill("<i>Oiled on Tuesday</i>");
  await inPreview("Order 10492");
  await inPreview("Thank you, {{ORDER}} <b>Ann</b>.");
  await preview().locator("i", { hasText: "Oiled on Tuesday" }).waitFor(patience);
  await page.getByRole("region", { name: "Preview" }).getByText("Order 10492", { exact: true }).waitFor();
  await page.getByRole("region", { name: "Raw HTML" }).getByText("{{{NOTE}}}").waitFor();
  expect((await page.locator(".cm-tag-raw").allTextContents()).join("")).toBe("{{{NOTE}}}");
  expect(await page.locator(".cm-tag-new").allTextContents()).toContain("{{ORDER}}");
  await page
    .getByRole("button", { name: "Phone width" })
    .or(page.getByRole("radio", { name: "Phone width" }))
    .click();
  await page.getByRole("region", { name: "Preview" }).getByRole("tab", { name: "Text" }).click();
  await page.getByText("Made from the HTML, for readers").waitFor();
  await page.locator("pre", { hasText: "Order 10492" }).waitFor(patience);
  await page.getByRole("region", { name: "Preview" }).getByRole("tab", { name: "HTML" }).click();
  expectNothingOdd();
});

test("a fault is told with its place, and is not saved", async () => {
  await write("<p>{{#EACH}}x{{/EACH}}</p>\n<p>{{EMAIL}} {{A");
  const faults = page.getByRole("region", { name: "Faults" });
  await faults.getByText("This is a section and is not offered").waitFor();
  await faults.getByText('"EMAIL" is reserved').waitFor();
  await faults.getByRole("button", { name: "HTML, line 2" }).first().click();
  expect(await editor().evaluate((element) => element === document.activeElement)).toBe(true);
  await expectNoBarriers(page);
  await takePictures(page, "template-faults");
  await page.getByRole("button", { name: "Save draft" }).click();
  await page
    .getByRole("alert")
    .getByText(/`html` uses \{\{#EACH\}\}/)
    .waitFor(patience);
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
  expectNothingOdd();
});

test("what is not saved is there again after a reload, and is saved by the keyboard", async () => {
  await write("<h1>Order {{ORDER}}</h1><p>Thank you, {{NAME}}.</p>");
  await inPreview("Order 10492");
  await expect
    .poll(() => page.evaluate(() => JSON.stringify({ ...sessionStorage })), patience)
    .toContain("Thank you, {{NAME}}.</p>");
  const asks = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  expect(await page.evaluate(asks)).toBe(true);
  // As where the browser is gone without having asked.
  await page.evaluate(() => {
    BeforeUnloadEvent.prototype.preventDefault = () => {};
  });
  await page.reload();
  await page.getByText("Text that you had not saved was brought back.").waitFor(patience);
  await page.getByRole("button", { name: "Drop it" }).click();
  await page.getByText("Unsaved text dropped").waitFor(patience);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await editor().waitFor(patience);
  await inPreview("Thank you, {{ORDER}} <b>Ann</b>.");
  await page.getByLabel("ORDER has a fallback").check();
  await page.getByLabel("Type of ORDER").selectOption("number");
  await page.getByText("Give a number.").waitFor();
  await page.getByLabel("Fallback of ORDER").fill("1");
  await editor().click();
  await saveByKey();
  expect(await page.getByRole("button", { name: "Save draft" }).isDisabled()).toBe(true);
  expect(await page.evaluate(asks)).toBe(false);
  expectNothingOdd();
});

test("nothing sends with a draft; published, every send says it", async () => {
  await expect(sendWith({ NAME: "Ann" })).rejects.toThrow(/not published/);
  await page.getByRole("button", { name: "Publish" }).click();
  await dialog().getByText("From now on your programs can send with it").waitFor(patience);
  await dialog().getByRole("button", { name: "Publish" }).click();
  await page.getByText("Published", { exact: true }).first().waitFor(patience);
  expect(await sendWith({ NAME: "<Ann>" })).toEqual({
    subject: "Order 1",
    html: "<h1>Order 1</h1><p>Thank you, &lt;Ann&gt;.</p>",
  });
  expectNothingOdd();
});

test("a change waits for its publishing, which says before what it changes", async () => {
  await write("<h1>Order {{ORDER}}</h1><p>Dear {{NAME}}, {{CITY}} is near.</p>");
  await saveByKey();
  await page.getByText("Draft ahead", { exact: true }).waitFor();
  expect((await sendWith({ NAME: "Ann" })).html).toContain("Thank you, Ann");
  await page.getByRole("button", { name: "Publish" }).click();
  await dialog().getByText("HTML and variables").waitFor(patience);
  await dialog()
    .getByText(/^CITY is required from now on/)
    .waitFor();
  await expectNoBarriers(page);
  await dialog().getByRole("button", { name: "Publish" }).click();
  await page.getByText("Draft ahead", { exact: true }).waitFor({ state: "detached", ...patience });
  await expect(sendWith({ NAME: "Ann" })).rejects.toThrow(/CITY/);
  expect((await sendWith({ NAME: "Ann", CITY: "Riga" })).html).toContain("Riga is near");
  expectNothingOdd();
});

test("somebody else's save is not overwritten unseen, and both are shown", async () => {
  await write("<p>Mine {{NAME}}</p>");
  await posthorn.api("PATCH", "/templates/order-receipt", { html: "<p>Theirs {{NAME}}</p>" }, key);
  await page.keyboard.press("ControlOrMeta+s");
  await page.getByText("Somebody else saved this template").waitFor(patience);
  await page.getByRole("button", { name: "Look at both" }).click();
  await dialog().getByText("Theirs {{NAME}}").first().waitFor(patience);
  await dialog().getByText("Mine {{NAME}}").first().waitFor();
  await expectNoBarriers(page);
  await takePictures(page, "template-conflict");
  await dialog().getByRole("button", { name: "Take theirs, drop mine" }).click();
  await editor().getByText("Theirs").waitFor(patience);
  await inPreview("Theirs");
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
  expectNothingOdd();
});

test("versions are compared, and an earlier one goes live again", async () => {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Versions" }).click();
  await page.getByRole("heading", { name: "Versions of Order receipt" }).waitFor(patience);
  await page.getByRole("list", { name: "Versions" }).getByRole("button").nth(2).click();
  await page.getByRole("heading", { name: "Version 1" }).waitFor(patience);
  await page.getByRole("region", { name: "HTML" }).getByText("Thank you").first().waitFor(patience);
  await page.getByRole("region", { name: "HTML" }).getByText("is near").first().waitFor();
  await expectNoBarriers(page);
  await takePictures(page, "template-versions");
  await page.getByRole("button", { name: "Roll back to 1" }).click();
  await dialog().getByRole("button", { name: "Roll back" }).click(patience);
  await page.getByText("Rolled back to version 1").waitFor(patience);
  expect((await sendWith({ NAME: "Ann" })).html).toContain("Thank you, Ann");
  expectNothingOdd();
});

test("a test mail goes the ordinary way, and the call to copy works", async () => {
  await page.goto(address);
  await editor().waitFor(patience);
  await page.getByRole("button", { name: "Send a test" }).click();
  await dialog().getByLabel("To", { exact: true }).fill("delivered+test@posthorn.test", patience);
  await dialog().getByRole("button", { name: "Send the test" }).click();
  await dialog().getByRole("link", { name: "See what becomes of it" }).click(patience);
  await page.getByRole("heading", { name: "Order 10492" }).waitFor(patience);
  await page.goto(address);
  await page.getByRole("button", { name: "More" }).click(patience);
  await page.getByRole("menuitem", { name: "Send by the API" }).click();
  const call = (await dialog().locator("pre").first().textContent(patience)) ?? "";
  expect(call).toContain(`${posthorn.url}/api/emails`);
  const body = JSON.parse(/-d '([\s\S]*)'$/.exec(call)?.[1] ?? "{}");
  expect(body.template).toEqual({
    id: "order-receipt",
    variables: { ORDER: 10492, NAME: "{{ORDER}} <b>Ann</b>" },
  });
  await dialog().getByRole("tab", { name: "Node.js" }).click();
  await dialog().getByText("resend.emails.send").waitFor();
  await expectNoBarriers(page);
  await page.keyboard.press("Escape");
  expectNothingOdd();
});

test("it is found, duplicated and deleted, and says before who would miss it", async () => {
  await page.goto(`${posthorn.url}/console/templates`);
  await page.getByRole("link", { name: /Order receipt/ }).waitFor();
  await page.getByRole("button", { name: "Actions for Order receipt" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByRole("heading", { name: "Order receipt (copy)" }).waitFor(patience);
  await page.goto(`${posthorn.url}/console/templates?search=ORDER-`);
  await expect.poll(() => page.getByRole("row").count(), patience).toBe(2);
  await page.getByRole("button", { name: "Actions for Order receipt" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await dialog().getByText("Shop", { exact: true }).waitFor(patience);
  await expectNoBarriers(page);
  await dialog().getByRole("button", { name: "Delete the template" }).click();
  await page.getByRole("heading", { name: "No template matches" }).waitFor(patience);
  await expect(sendWith({ NAME: "Ann" })).rejects.toThrow(/404/);
  expectNothingOdd();
});
