import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { expectNoErrors, openBrowser, openProfile, signIn, type Watched } from "./browser";
import { fillTeam, type TestData } from "./pages";

/*
 * Every dialog with a form opens in its first field, shows its buttons on a low screen, and returns the focus to the button
 * that opened it. A confirmation without fields opens on its dismiss button.
 */

const pollOptions = { timeout: 30_000 };

let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;
let testData: TestData;
beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  testData = await fillTeam(backstamp);
  profile = await openProfile(browser, { viewport: { width: 1280, height: 480 } });
  page = await profile.context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

type Opened = {
  path: (data: TestData) => string;
  button: string | RegExp;
  /** If the button opens a menu: the item that opens the dialog. */
  item?: string;
};

const FORMS: Record<string, Opened> = {
  "create a key, which loads its form late": { path: () => "/console/keys", button: "Create key" },
  "rename a key": { path: ({ key }) => `/console/keys/${key}`, button: "Rename…" },
  "client networks": { path: ({ key }) => `/console/keys/${key}`, button: "Client networks…" },
  "rotate a key": { path: ({ key }) => `/console/keys/${key}`, button: "Rotate…" },
  "add a domain": { path: () => "/console/domains", button: "Add domain" },
  "add a webhook": { path: () => "/console/webhooks", button: "Add webhook" },
  "edit a webhook": {
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    button: "More actions",
    item: "Edit…",
  },
  "replay a range": {
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    button: "More actions",
    item: "Replay events…",
  },
  "send a test event": { path: ({ webhook }) => `/console/webhooks/${webhook}`, button: /^Send test event/ },
  "suppress addresses": { path: () => "/console/suppressions", button: "Suppress addresses" },
  "import suppressions": { path: () => "/console/suppressions", button: "More actions", item: "Import CSV…" },
  "create a template": { path: () => "/console/templates", button: "Create template" },
  "name a template": {
    path: ({ template }) => `/console/templates/${template}`,
    button: "More",
    item: "Name and alias…",
  },
  "test a template": { path: ({ template }) => `/console/templates/${template}`, button: "Send test…" },
  "invite a member": { path: () => "/console/settings/members", button: /^Invite/ },
  "set up an authenticator app": { path: () => "/console/settings/security", button: "Set up" },
  "add a passkey": { path: () => "/console/settings/security", button: "Add passkey" },
  "create a team": { path: () => "/console/settings/team", button: "Create team" },
  "add a relay": { path: () => "/console/installation/relays", button: "Add relay" },
};

const dialog = () => page.locator("[role=dialog], [role=alertdialog]");

/** Opens the dialog. Returns its opener. */
async function open({ path, button, item }: Opened) {
  await page.goto(backstamp.url + path(testData));
  await page.waitForLoadState("networkidle");
  const opener = page.getByRole("button", { name: button, exact: true }).first();
  await opener.click(pollOptions);
  if (item) await page.getByRole("menuitem", { name: item }).click(pollOptions);
  await dialog().waitFor(pollOptions);
  return opener;
}

/** Runs in the browser: what has the focus in the dialog; "first field" for its first one, or a selected radio button. */
function readFocus(root: Element): string {
  const at = document.activeElement;
  const fields = [...root.querySelectorAll("input:not([type=hidden]), select, textarea")].filter(
    (field) => !(field as HTMLInputElement).disabled,
  );
  const [first] = fields;
  const isInput = first instanceof HTMLInputElement && at instanceof HTMLInputElement;
  const isSelected = isInput && first.type === "radio" && at.name === first.name && at.checked;
  return first && (at === first || isSelected) ? "first field" : (at?.outerHTML.slice(0, 120) ?? "nothing");
}

async function expectReturned(opener: Awaited<ReturnType<typeof open>>): Promise<void> {
  await page.keyboard.press("Escape");
  await expect.poll(() => dialog().count(), pollOptions).toBe(0);
  await expect.poll(() => opener.evaluate((node) => node === document.activeElement), pollOptions).toBe(true);
  expectNoErrors(profile);
}

for (const [name, opened] of Object.entries(FORMS))
  test(`the dialog "${name}" has the focus in its first field and shows its buttons`, async () => {
    const opener = await open(opened);
    await expect.poll(() => dialog().evaluate(readFocus), pollOptions).toBe("first field");
    const buttons = dialog().locator("[data-actions] button");
    const boxes = await buttons.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().bottom));
    expect(boxes.length).toBeGreaterThan(0);
    for (const bottom of boxes) expect(bottom).toBeLessThanOrEqual(480);
    await expectReturned(opener);
  });

test("a confirmation has the focus on its dismiss button", async () => {
  const opener = await open({
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    button: "More actions",
    item: "Delete…",
  });
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await expect.poll(focused, pollOptions).toBe("Cancel");
  await expectReturned(opener);
});

test("the buttons of a long dialog are at the same place however far it is scrolled", async () => {
  await open(FORMS["create a key, which loads its form late"] as Opened);
  const submit = dialog().getByRole("button", { name: "Create key" });
  await submit.waitFor(pollOptions);
  const place = async () => (await submit.boundingBox())?.y;
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
  const before = await place();
  const moved = await dialog().evaluate((root) => {
    const scroller = [...root.querySelectorAll("div")].find((each) => each.scrollHeight > each.clientHeight);
    scroller?.scrollTo(0, 10_000);
    return scroller?.scrollTop ?? 0;
  });
  expect(moved).toBeGreaterThan(100);
  expect(await place()).toBe(before);
});
