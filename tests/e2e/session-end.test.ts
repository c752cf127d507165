import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { ADMIN, openSignedIn } from "./backstamp";
import { openProfile, signIn, takePictures } from "./browser";
import { fillTeam, makeFreshTeam } from "./pages";

/*
 * The end of a session, and errors: what a user typed stays on the page, and each error is shown once, in
 * words of the page.
 */

const waitOptions = { timeout: 60_000 };

const { backstamp, browser, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
const testData = await fillTeam(backstamp);
const elsewhere = await (await openProfile(browser)).context.newPage();
await signIn(elsewhere, backstamp.url, ADMIN.email, ADMIN.password);

const ended = () => page.getByRole("alertdialog", { name: "Your session has expired" });
const open = async (path: string) => {
  await page.goto(backstamp.url + path);
  await page.waitForLoadState("networkidle");
};
const editor = () => page.getByRole("textbox", { name: "HTML" });

/** Ends all sessions but its own, from another browser. */
async function endSession(): Promise<void> {
  await elsewhere.goto(`${backstamp.url}/console/settings/security`);
  await elsewhere.getByRole("button", { name: "End all others" }).click(waitOptions);
  await elsewhere.getByRole("button", { name: "End sessions" }).click(waitOptions);
  const sessions = elsewhere.getByRole("region", { name: "Sessions", exact: true }).getByRole("listitem");
  await expect.poll(() => sessions.count(), waitOptions).toBe(1);
}

/** Signs in in the window that the dialog opens. */
async function signInAgain(user: { email: string; password: string } = ADMIN): Promise<void> {
  const [opened] = await Promise.all([
    profile.context.waitForEvent("page"),
    ended().getByRole("link", { name: "Sign in" }).click(waitOptions),
  ]);
  await opened.getByLabel("Email address").fill(user.email, waitOptions);
  await opened.getByLabel("Password").fill(user.password);
  const isClosed = opened.waitForEvent("close", waitOptions);
  await opened.getByRole("button", { name: "Sign in", exact: true }).click();
  await isClosed;
}

/** How often the page shows a text. */
const countOf = (text: string | RegExp): Promise<number> =>
  page.getByText(text).filter({ visible: true }).count();

async function expectOnce(text: string): Promise<void> {
  await expect.poll(() => countOf(text), waitOptions).toBe(1);
  // A toast would arrive after the message of the form.
  await page.waitForLoadState("networkidle");
  expect(await countOf(text)).toBe(1);
}

type Seen = { wasOpen?: boolean };
/** Runs in the browser: records whether the dialog about the session opens from now on, even briefly. */
function recordDialog(): void {
  new MutationObserver(() => {
    if (document.querySelector("[role=alertdialog]")) (window as Seen).wasOpen = true;
  }).observe(document.body, { childList: true, subtree: true });
}

const addDomain = (): Locator => page.getByRole("dialog", { name: "Add domain" });

test("a form that is submitted after the session has ended keeps its text, and one more click sends it", async () => {
  await open("/console/domains");
  await page.getByRole("button", { name: "Add domain" }).click();
  await addDomain().getByLabel("Domain").fill("long.shop.example.org", waitOptions);
  await endSession();
  await addDomain().getByRole("button", { name: "Add domain" }).click();
  await ended().waitFor(waitOptions);
  // The dialog is the only message about it, and the page stays.
  expect(await countOf(/session has expired/)).toBe(1);
  expect(new URL(page.url()).pathname).toBe("/console/domains");
  await takePictures(page, "session-ended");
  await signInAgain();
  await ended().waitFor({ state: "detached", ...waitOptions });
  expect(await addDomain().getByLabel("Domain").inputValue()).toBe("long.shop.example.org");
  await addDomain().getByRole("button", { name: "Add domain" }).click();
  await page.waitForURL(/\/console\/domains\/[0-9a-f-]{36}/, waitOptions);
  await page.getByRole("heading", { name: "long.shop.example.org" }).waitFor(waitOptions);
});

test("a rejection that arrives after the new sign-in does not keep the dialog open", async () => {
  await open("/console/domains");
  await page.getByRole("button", { name: "Add domain" }).click();
  await addDomain().getByLabel("Domain").fill("late.example.org", waitOptions);
  await endSession();
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/domains\.add/, async (route) => {
    const response = await route.fetch();
    await isReleased;
    await route.fulfill({ response });
  });
  await addDomain().getByRole("button", { name: "Add domain" }).click();
  // Another call of the page opens the dialog meanwhile.
  await ended().waitFor(waitOptions);
  await signInAgain();
  await ended().waitFor({ state: "detached", ...waitOptions });
  await page.evaluate(recordDialog);
  release();
  await expect.poll(() => page.evaluate(() => (window as Seen).wasOpen), waitOptions).toBe(true);
  await ended().waitFor({ state: "detached", ...waitOptions });
  await page.unrouteAll({ behavior: "wait" });
});

test("a long template survives the end of the session and is saved after the sign-in", async () => {
  await open(`/console/templates/${testData.template}`);
  await editor().waitFor(waitOptions);
  await endSession();
  const text = `<p>${"A paragraph that nobody wants to write twice. ".repeat(40)}</p>`;
  await editor().click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
  await ended().waitFor(waitOptions);
  expect(await countOf(/session has expired/)).toBe(1);
  await signInAgain();
  await ended().waitFor({ state: "detached", ...waitOptions });
  expect(await editor().innerText()).toContain("nobody wants to write twice");
  await page.keyboard.press("Control+S");
  const unsaved = () =>
    page.evaluate((id) => sessionStorage.getItem(`backstamp.template.${id}.unsaved`), testData.template);
  await expect.poll(unsaved, waitOptions).toBe(null);
  // The draft is on the server.
  await elsewhere.goto(`${backstamp.url}/console/templates/${testData.template}`);
  const stored = elsewhere.getByRole("textbox", { name: "HTML" });
  await stored.getByText("nobody wants to write twice").first().waitFor(waitOptions);
});

test("another user who signs in gets a new page, without what was typed before", async () => {
  const other = await makeFreshTeam(backstamp);
  await open("/console/domains");
  await page.getByRole("button", { name: "Add domain" }).click();
  await addDomain().getByLabel("Domain").fill("private.example.org", waitOptions);
  await endSession();
  await addDomain().getByRole("button", { name: "Add domain" }).click();
  await signInAgain(other);
  await page.getByRole("button", { name: other.email }).waitFor(waitOptions);
  expect(await countOf("mail.example.com")).toBe(0);
  expect(await addDomain().count()).toBe(0);
  await profile.context.clearCookies();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
});

test("leaving a template with unsaved changes is asked in a dialog of the page", async () => {
  await open(`/console/templates/${testData.template}`);
  await editor().click(waitOptions);
  // Content with an error is not saved automatically.
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText("<p>{{#if x}}</p>");
  const leave = page.getByRole("alertdialog", { name: "Leave without saving?" });
  const link = page.getByRole("navigation").getByRole("link", { name: "Domains" }).first();
  await expect
    .poll(async () => {
      // The dialog covers the link as soon as it is open.
      await link.click({ timeout: 2_000 }).catch(() => {});
      return leave.count();
    }, waitOptions)
    .toBe(1);
  await takePictures(page, "template-leave");
  await leave.getByRole("button", { name: "Stay" }).click();
  await leave.waitFor({ state: "detached", ...waitOptions });
  expect(new URL(page.url()).pathname).toContain("/console/templates/");
  await link.click();
  await leave.getByRole("button", { name: "Leave page" }).click(waitOptions);
  await page.waitForURL(/\/console\/domains/, waitOptions);
  await page.getByRole("heading", { name: "Domains", exact: true }).waitFor(waitOptions);
  await page.waitForLoadState("networkidle");
  expect(profile.dialogs).toEqual([]);
});

test("documents, the palette and the keys g d ask in the same dialog, and the browser not again", async () => {
  const leave = page.getByRole("alertdialog", { name: "Leave without saving?" });
  const guides = page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Guides" });
  const stay = async () => {
    await leave.getByRole("button", { name: "Stay" }).click(waitOptions);
    await leave.waitFor({ state: "detached", ...waitOptions });
    expect(new URL(page.url()).pathname).toContain("/console/templates/");
  };
  // The changes of the test before are restored.
  await open(`/console/templates/${testData.template}`);
  await expect.poll(() => editor().innerText(), waitOptions).toContain("{{#if x}}");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await stay();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("option", { name: "Domains" }).click(waitOptions);
  await stay();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("option", { name: "Guides" }).click(waitOptions);
  await stay();
  await guides.click();
  await leave.getByRole("button", { name: "Leave page" }).click(waitOptions);
  await page.waitForURL(/\/docs/, waitOptions);
  expect(profile.dialogs).toEqual([]);
});

test("an invalid value is reported once, and so is a lost connection, in words of the page", async () => {
  await open("/console/domains");
  await page.getByRole("button", { name: "Add domain" }).click();
  await addDomain().getByLabel("Domain").fill("a..example", waitOptions);
  const fieldError = addDomain().locator("p[id$='-error']");
  await fieldError.waitFor(waitOptions);
  const message = (await fieldError.textContent()) ?? "";
  expect(message).toMatch(/^[A-Z].+\.$/);
  const [answer] = await Promise.all([
    page.waitForResponse(/domains\.add/, waitOptions),
    addDomain().getByRole("button", { name: "Add domain" }).click(),
  ]);
  expect(answer.status()).toBeGreaterThanOrEqual(400);
  await expectOnce(message);

  await addDomain().getByLabel("Domain").fill("fine.example.org");
  await page.route(/domains\.add/, (route) => route.abort());
  await addDomain().getByRole("button", { name: "Add domain" }).click();
  await expectOnce("The service cannot be reached. Try again when the connection is back.");
  expect(await page.locator("body").innerText()).not.toMatch(/Failed to fetch|TRPC|Unauthorized/i);
  await page.unrouteAll({ behavior: "wait" });
});
