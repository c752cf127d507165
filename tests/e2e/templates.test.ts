import { afterEach, expect, test } from "vitest";
import { openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, expectNoErrors, takePictures } from "./browser";

const slowPage = { timeout: 60_000 };

let address: string;

const { backstamp, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
afterEach(() => expectNoErrors(profile));
/** A key with the scope `full_access`. */
const key = await backstamp.createKey();

const dialog = () => page.getByRole("dialog").or(page.getByRole("alertdialog"));
const editor = () => page.getByRole("textbox", { name: "HTML" });
const preview = () => page.frameLocator('iframe[title="Email preview"]');
const inPreview = (text: string) => preview().getByText(text).first().waitFor(slowPage);
const sendWith = async (variables: object) => {
  const id = await backstamp.send(
    { to: "delivered@backstamp.test", template: { id: "order-receipt", variables } },
    key,
  );
  const email = await backstamp.api("GET", `/emails/${id}`, undefined, key);
  return { subject: email.subject as string, html: email.html as string };
};

/** Replaces the text in the editor, as a user does with select all and paste. */
async function write(html: string): Promise<void> {
  await editor().click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(html);
}
/** Saves fail until the returned function is called, as if the network were interrupted. */
async function interruptSaves(): Promise<() => Promise<void>> {
  await page.route(/templates\.save/, (route) => route.abort());
  return () => page.unrouteAll({ behavior: "wait" });
}
const saveByKey = async () => {
  await page.keyboard.press("ControlOrMeta+s");
  await page
    .getByRole("status")
    .getByText(/^Saved/)
    .waitFor(slowPage);
};

test("a template is created as a draft and opens in the editor", async () => {
  await page.goto(`${backstamp.url}/console/templates`);
  await page.getByRole("heading", { name: "No templates yet" }).waitFor();
  await page.getByRole("button", { name: "Create template" }).first().click();
  await dialog().getByRole("button", { name: "Create and edit" }).click(slowPage);
  await dialog().getByText("Enter a name.").waitFor();
  await dialog().getByLabel("Name", { exact: true }).fill("Order receipt");
  expect(await dialog().getByLabel("Alias").inputValue()).toBe("order-receipt");
  await expectNoAccessibilityViolations(page);
  await dialog().getByText("Empty", { exact: true }).click();
  await dialog().getByRole("button", { name: "Create and edit" }).click();
  await page.waitForURL(/\/console\/templates\/[0-9a-f-]{36}$/, slowPage);
  address = page.url();
  await page.getByText("Draft", { exact: true }).waitFor();
  await inPreview("Hello {{name}}");
});

test("variables are highlighted, listed and previewed with the sample values", async () => {
  await editor().waitFor(slowPage);
  await write("<h1>Order {{ORDER}}</h1><p>Thank you, {{NAME}}. {{{NOTE}}}</p>");
  await page.getByLabel("Subject", { exact: true }).fill("Order {{ORDER}}");
  await page.getByLabel("From", { exact: true }).fill("Alder & Oak <shop@backstamp.test>");
  await page.getByLabel("Sample of ORDER").fill("10492");
  await page.getByLabel("Sample of NAME").fill("{{ORDER}} <b>Ann</b>");
  await page.getByLabel("Sample of NOTE").fill("<i>Oiled on Tuesday</i>");
  await inPreview("Order 10492");
  await inPreview("Thank you, {{ORDER}} <b>Ann</b>.");
  await preview().locator("i", { hasText: "Oiled on Tuesday" }).waitFor(slowPage);
  await page.getByRole("region", { name: "Preview" }).getByText("Order 10492", { exact: true }).waitFor();
  await page.getByRole("region", { name: "Raw HTML" }).getByText("{{{NOTE}}}").waitFor();
  expect((await page.locator(".cm-tag-raw").allTextContents()).join("")).toBe("{{{NOTE}}}");
  expect(await page.locator(".cm-tag-new").allTextContents()).toContain("{{ORDER}}");
  await page.getByRole("button", { name: "Phone width" }).click();
  await page.getByRole("region", { name: "Preview" }).getByRole("tab", { name: "Text" }).click();
  await page.getByText("Generated from the HTML, for email clients").waitFor();
  await page.locator("pre", { hasText: "Order 10492" }).waitFor(slowPage);
  await page.getByRole("region", { name: "Preview" }).getByRole("tab", { name: "HTML" }).click();
});

test("the preview shows whether it is updated, and keeps its content after a fault", async () => {
  const pane = page.getByRole("region", { name: "Preview" });
  const expectState = async (state: string, isBusy: boolean) => {
    await expect.poll(() => pane.getByRole("status").textContent(), slowPage).toBe(state);
    expect(await pane.getAttribute("aria-busy")).toBe(String(isBusy));
  };
  /** Previews are rendered only after the returned function is called. */
  const delayPreviews = async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/templates\.preview/, async (route) => {
      await held;
      await route.continue();
    });
    return async () => {
      release();
      await page.unrouteAll({ behavior: "wait" });
    };
  };
  await expectState("", false);
  const entries = await page.evaluate(() => history.length);
  const renderFirst = await delayPreviews();
  await write("<p>First {{ORDER}}</p>");
  await expectState("Updating…", true);
  await inPreview("Thank you, {{ORDER}} <b>Ann</b>.");
  await renderFirst();
  await inPreview("First 10492");
  await expectState("", false);
  await page.route(/templates\.preview/, (route) => route.abort());
  await write("<p>Second {{ORDER}}</p>");
  await expectState("Preview not updated", true);
  await inPreview("First 10492");
  await page.unrouteAll({ behavior: "wait" });
  const renderThird = await delayPreviews();
  await write("<p>Third {{ORDER}}</p>");
  await expectState("Updating…", true);
  await inPreview("First 10492");
  await renderThird();
  await inPreview("Third 10492");
  await expectState("", false);
  expect(await page.evaluate(() => history.length)).toBe(entries);
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
});

test("an error is shown with its position, and is not saved", async () => {
  await write("<p>{{#EACH}}x{{/EACH}}</p>\n<p>{{EMAIL}} {{A");
  const errors = page.getByRole("region", { name: "Errors" });
  await errors.getByText("{{#EACH}} is not a supported block.").waitFor();
  await errors.getByText('"EMAIL" is reserved').waitFor();
  await errors.getByRole("button", { name: "HTML, line 2" }).first().click();
  expect(await editor().evaluate((element) => element === document.activeElement)).toBe(true);
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "template-faults");
  await page.getByRole("button", { name: "Save draft" }).click();
  await page
    .getByRole("alert")
    .getByText(/^HTML: \{\{#EACH\}\} is not a supported block/)
    .waitFor(slowPage);
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
});

test("unsaved changes are restored after a reload, and Ctrl+S saves them", async () => {
  const restore = await interruptSaves();
  await write("<h1>Order {{ORDER}}</h1><p>Thank you, {{NAME}}.</p>");
  await inPreview("Order 10492");
  await expect
    .poll(() => page.evaluate(() => JSON.stringify({ ...sessionStorage })), slowPage)
    .toContain("Thank you, {{NAME}}.</p>");
  const asks = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  expect(await page.evaluate(asks)).toBe(true);
  // As if the browser had closed without a confirmation.
  await page.evaluate(() => {
    BeforeUnloadEvent.prototype.preventDefault = () => {};
  });
  await page.reload();
  await page.getByText("Your unsaved changes were restored.").waitFor(slowPage);
  await page.getByRole("button", { name: "Discard", exact: true }).click();
  await page.getByText("Unsaved changes discarded").waitFor(slowPage);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await editor().waitFor(slowPage);
  await inPreview("Thank you, {{ORDER}} <b>Ann</b>.");
  await page.getByLabel("ORDER has a fallback").check();
  await page.getByLabel("Type of ORDER").selectOption("number");
  await page.getByText("Enter a number.").waitFor();
  await page.getByLabel("Fallback of ORDER").fill("1");
  await editor().click();
  await restore();
  await saveByKey();
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
  expect(await page.getByRole("button", { name: "Save draft" }).isDisabled()).toBe(true);
  expect(await page.evaluate(asks)).toBe(false);
});

test("a change is saved after a pause, and can be undone afterwards", async () => {
  await write("<h1>Order {{ORDER}}</h1><p>Thanks, {{NAME}}.</p>");
  await page.getByRole("status").getByText("Saving").waitFor(slowPage);
  await page
    .getByRole("status")
    .getByText(/^Saved/)
    .waitFor(slowPage);
  const saved = async () => (await backstamp.api("GET", "/templates/order-receipt", undefined, key)).html;
  expect(await saved()).toContain("Thanks, {{NAME}}");
  await editor().click();
  await page.keyboard.press("ControlOrMeta+z");
  await inPreview("Thank you, {{ORDER}} <b>Ann</b>.");
  await expect.poll(saved, slowPage).toContain("Thank you, {{NAME}}");
});

test("a draft cannot be sent; after publishing, every send uses it", async () => {
  await expect(sendWith({ NAME: "Ann" })).rejects.toThrow(/not published/);
  await page.getByRole("button", { name: "Publish" }).click();
  await dialog().getByText("After publishing, programs can send this template").waitFor(slowPage);
  await dialog().getByRole("button", { name: "Publish" }).click();
  await page.getByText("Published", { exact: true }).first().waitFor(slowPage);
  expect(await sendWith({ NAME: "<Ann>" })).toEqual({
    subject: "Order 1",
    html: "<h1>Order 1</h1><p>Thank you, &lt;Ann&gt;.</p>",
  });
});

test("a change takes effect when it is published, and the dialog shows the changes first", async () => {
  await write("<h1>Order {{ORDER}}</h1><p>Dear {{NAME}}, {{CITY}} is near.</p>");
  await saveByKey();
  await page.getByText("New draft", { exact: true }).waitFor();
  expect((await sendWith({ NAME: "Ann" })).html).toContain("Thank you, Ann");
  await page.getByRole("button", { name: "Publish" }).click();
  await dialog().getByText("HTML and variables").waitFor(slowPage);
  await dialog()
    .getByText(/^CITY becomes required/)
    .waitFor();
  await expectNoAccessibilityViolations(page);
  await dialog().getByRole("button", { name: "Publish" }).click();
  await page.getByText("New draft", { exact: true }).waitFor({ state: "detached", ...slowPage });
  await expect(sendWith({ NAME: "Ann" })).rejects.toThrow(/CITY/);
  expect((await sendWith({ NAME: "Ann", CITY: "Riga" })).html).toContain("Riga is near");
});

test("a save of another user is not overwritten silently, and both versions are shown", async () => {
  const restore = await interruptSaves();
  await write("<p>Mine {{NAME}}</p>");
  await backstamp.api("PATCH", "/templates/order-receipt", { html: "<p>Theirs {{NAME}}</p>" }, key);
  await restore();
  await page.keyboard.press("ControlOrMeta+s");
  await page.getByText("This template was saved by another user or in another tab").waitFor(slowPage);
  await page.getByRole("button", { name: "Compare" }).click();
  await dialog().getByText("Theirs {{NAME}}").first().waitFor(slowPage);
  await dialog().getByText("Mine {{NAME}}").first().waitFor();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "template-conflict");
  await dialog().getByRole("button", { name: "Use theirs, discard mine" }).click();
  await editor().getByText("Theirs").waitFor(slowPage);
  await inPreview("Theirs");
  profile.errors = profile.errors.filter(({ at }) => !at.includes("/api/trpc/"));
});

test("versions are compared, and an earlier one is published again", async () => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Versions" }).click();
  await page.getByRole("heading", { name: "Versions of Order receipt" }).waitFor(slowPage);
  await page.getByRole("list", { name: "Versions" }).getByRole("button").nth(2).click();
  await page.getByRole("heading", { name: "Version 1" }).waitFor(slowPage);
  await page.getByRole("region", { name: "HTML" }).getByText("Thank you").first().waitFor(slowPage);
  await page.getByRole("region", { name: "HTML" }).getByText("is near").first().waitFor();
  await expectNoAccessibilityViolations(page);
  await takePictures(page, "template-versions");
  const compared = page.getByLabel("compared with");
  const published = await compared.inputValue();
  await compared.selectOption("no version");
  await page.getByRole("region", { name: "Content" }).getByText("Thank you").waitFor(slowPage);
  await takePictures(page, "template-version");
  await compared.selectOption(published);
  await page.getByRole("list", { name: "Versions" }).getByText(" by ").first().waitFor();
  await expectNoAccessibilityViolations(page);
  await page.getByRole("button", { name: "Roll back to version 1" }).click();
  await dialog().getByRole("button", { name: "Roll back" }).click(slowPage);
  await page.getByText("Rolled back to version 1").waitFor(slowPage);
  expect((await sendWith({ NAME: "Ann" })).html).toContain("Thank you, Ann");
});

test("a test email is sent like any other, and the example API call works", async () => {
  await page.goto(address);
  await editor().waitFor(slowPage);
  await page.getByRole("button", { name: "Send test" }).click();
  await dialog().getByLabel("To", { exact: true }).fill("delivered+test@backstamp.test", slowPage);
  await dialog().getByRole("button", { name: "Send test", exact: true }).click();
  await dialog().getByRole("link", { name: "View email" }).click(slowPage);
  await page.getByRole("heading", { name: "Order 10492" }).waitFor(slowPage);
  await page.goto(address);
  await page.getByRole("button", { name: "More actions" }).click(slowPage);
  await page.getByRole("menuitem", { name: "Send with the API" }).click();
  const call = (await dialog().locator("pre").first().textContent(slowPage)) ?? "";
  expect(call).toContain(`${backstamp.url}/api/emails`);
  const body = JSON.parse(/-d '([\s\S]*)'$/.exec(call)?.[1] ?? "{}");
  expect(body.template).toEqual({
    id: "order-receipt",
    variables: { ORDER: 10492, NAME: "{{ORDER}} <b>Ann</b>" },
  });
  await dialog().getByRole("tab", { name: "Node.js" }).click();
  await dialog().getByText("resend.emails.send").waitFor();
  await expectNoAccessibilityViolations(page);
  await page.keyboard.press("Escape");
});

test("a template is found, duplicated and deleted, and the dialog shows first which keys use it", async () => {
  await page.goto(`${backstamp.url}/console/templates`);
  await page.getByRole("link", { name: /Order receipt/ }).waitFor();
  await page.getByRole("button", { name: "Actions for Order receipt" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByRole("heading", { name: "Order receipt (copy)" }).waitFor(slowPage);
  await page.goto(`${backstamp.url}/console/templates?search=ORDER-`);
  await expect.poll(() => page.getByRole("row").count(), slowPage).toBe(2);
  await page.getByRole("button", { name: "Actions for Order receipt" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await dialog().getByText("Shop", { exact: true }).waitFor(slowPage);
  await expectNoAccessibilityViolations(page);
  await dialog().getByRole("button", { name: "Delete template" }).click();
  await page.getByRole("heading", { name: "No matching templates" }).waitFor(slowPage);
  await expect(sendWith({ NAME: "Ann" })).rejects.toThrow(/404/);
});
