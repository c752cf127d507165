import { describe, expect, test } from "vitest";
import { ADMIN, openSignedIn } from "./backstamp";
import { expectNoAccessibilityViolations, takePictures } from "./browser";
import { fillTeam } from "./pages";

const slowPage = { timeout: 60_000 };

const { backstamp, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
const testData = await fillTeam(backstamp);
const secondTeam = await page.evaluate(async () => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ name: "Second team" });
  const made = await (await fetch("/api/trpc/team.create", { method: "POST", headers, body })).json();
  return String(made.result.data.id);
});

const expectNoUnexpectedErrors = () => {
  const { dialogs, foreign, errors } = profile;
  expect({ dialogs, foreign, errors: errors.splice(0) }).toEqual({ dialogs: [], foreign: [], errors: [] });
};
const at = async (path: string) => {
  await page.goto(`${backstamp.url}${path}`);
  await page.locator("[data-row]").first().waitFor(slowPage);
};
type Seen = { wasEmpty?: boolean };
/** Runs in the browser: records whether "No results." is shown from now on, even briefly. */
function recordNoResults(): void {
  (window as Seen).wasEmpty = false;
  new MutationObserver(() => {
    if (document.querySelector("[role=dialog]")?.textContent?.includes("No results."))
      (window as Seen).wasEmpty = true;
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}
const palette = () => page.getByRole("dialog", { name: "Search and commands" });
const isSelectedAnnounced = async () =>
  (await palette().getByRole("combobox").getAttribute("aria-activedescendant")) ===
  (await palette().locator("[role=option][aria-selected=true]").getAttribute("id"));
/** Keys have no effect before hydration, so the key is pressed until it works. */
const pressUntil = async (press: () => Promise<unknown>, isDone: () => Promise<boolean>) =>
  expect
    .poll(async () => {
      if (!(await isDone())) await press();
      return isDone();
    }, slowPage)
    .toBe(true);
const openPalette = () =>
  pressUntil(
    () => page.keyboard.press("Control+k"),
    () => palette().isVisible(),
  );

describe("the palette", () => {
  test("opens a page by its name, without a mouse", async () => {
    await at("/console/emails");
    await openPalette();
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "palette");
    await page.keyboard.type("domai");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${backstamp.url}/console/domains`);
    expect(await palette().count()).toBe(0);
    expectNoUnexpectedErrors();
  });

  test("opens what Enter selects: the first result, also of a search that is still in progress", async () => {
    for (const [text, address] of [
      ["delivered+nora@backstamp.test", `/console/emails/${testData.email}`],
      ["whole", `/console/keys/${testData.key}`],
      ["hooks.example.invalid", `/console/webhooks/${testData.webhook}`],
      ["mail.example", `/console/domains/${testData.domain}`],
      ["gone@example.net", "/console/suppressions?search=gone@example.net"],
      ["security", "/console/settings/security"],
    ] as const) {
      await at("/console/emails");
      await openPalette();
      await page.keyboard.insertText(text);
      await page.keyboard.press("Enter");
      await expect
        .poll(() => decodeURIComponent(page.url()), { ...slowPage, message: text })
        .toBe(backstamp.url + address);
    }
    expectNoUnexpectedErrors();
  });

  test("finds keys, webhooks, suppressions, members and pages of the settings, and never reports no results beside them", async () => {
    for (const [text, group, option] of [
      ["whole", "API keys", "Whole"],
      ["receipt", "Templates", "Receipt"],
      ["hooks.example", "Webhooks", "https://hooks.example.invalid/backstamp"],
      ["gone@", "Suppressions", "gone@example.net"],
      [ADMIN.email, "Members", ADMIN.email],
      ["passkeys", "Go to", "Settings: Security"],
    ] as const) {
      await at("/console/emails");
      await openPalette();
      await expect.poll(isSelectedAnnounced, { message: "without a text" }).toBe(true);
      await page.evaluate(recordNoResults);
      await page.keyboard.type(text);
      const found = palette().getByRole("group", { name: group }).getByRole("option", { name: option });
      await found.first().waitFor(slowPage);
      const selected = palette().locator("[role=option][aria-selected=true]");
      await expect
        .poll(() => selected.textContent(), slowPage)
        .toBe(await palette().getByRole("option").first().textContent());
      expect(await selected.count(), text).toBe(1);
      await expect.poll(isSelectedAnnounced, { message: text }).toBe(true);
      expect(await page.evaluate(() => (window as Seen).wasEmpty), text).toBe(false);
    }
    await takePictures(page, "palette-results");
    await page.keyboard.press("Escape");
    await openPalette();
    await page.keyboard.type("§");
    await palette().getByText("No results.").waitFor(slowPage);
    expect(await palette().getByRole("option").count()).toBe(0);
    expectNoUnexpectedErrors();
  });

  test("opens a create form, and the back button does not open it again", async () => {
    await at("/console/emails");
    await openPalette();
    await page.keyboard.insertText("add domain");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Add domain" }).waitFor(slowPage);
    expect(new URL(page.url()).search).toBe("");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count(), slowPage).toBe(0);
    await page.goBack();
    await page.goForward();
    await page.getByRole("heading", { name: "Domains" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expectNoUnexpectedErrors();
  });
});

describe("keyboard shortcuts", () => {
  test("are listed on ?", async () => {
    await at("/console/emails");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await pressUntil(
      () => page.keyboard.press("?"),
      () => help.isVisible(),
    );
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "keys");
    // In a dialog the page shortcuts are inactive.
    for (const key of ["g", "d", "j"]) await page.keyboard.press(key);
    await page.keyboard.press("Escape");
    await expect.poll(() => help.count(), slowPage).toBe(0);
    expect(page.url()).toBe(`${backstamp.url}/console/emails`);
  });

  test("open a page by g and a letter", async () => {
    await at("/console/emails");
    for (const [key, path] of [
      ["d", "/console/domains"],
      ["t", "/console/templates"],
      ["e", "/console/emails"],
    ] as const) {
      await pressUntil(
        async () => {
          await page.keyboard.press("g");
          await page.keyboard.press(key);
          await page.waitForURL(`${backstamp.url}${path}`, { timeout: 5_000 }).catch(() => {});
        },
        async () => page.url() === `${backstamp.url}${path}`,
      );
    }
    expectNoUnexpectedErrors();
  });

  test("move through a table and open a row; with Ctrl, Alt or Meta the browser handles them", async () => {
    await at("/console/domains");
    const isOnRow = () => page.evaluate(() => document.activeElement?.matches("[data-row]") ?? false);
    for (const held of ["Control+j", "Alt+j", "Meta+j"]) await page.keyboard.press(held);
    expect(await isOnRow()).toBe(false);
    await pressUntil(() => page.keyboard.press("j"), isOnRow);
    const name = await page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: name ?? "" }).waitFor(slowPage);
    expectNoUnexpectedErrors();
  });

  test("are text input in a field", async () => {
    await at("/console/emails");
    const field = page.locator("[data-search]");
    await pressUntil(
      () => page.keyboard.press("/"),
      () => field.evaluate((node) => node === document.activeElement),
    );
    await page.keyboard.type("gd?jk/");
    expect(await field.inputValue()).toBe("gd?jk/");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe("/console/emails");
  });
});

describe("on a phone", () => {
  test("all pages are in a menu, whose button is at least 44 px in size", async () => {
    await page.setViewportSize({ width: 380, height: 760 });
    await at("/console/emails");
    const button = page.getByRole("button", { name: "Menu" });
    const box = await button.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    await button.click();
    const menu = page.getByRole("dialog", { name: "Menu" });
    await menu.getByRole("link", { name: "Domains" }).waitFor(slowPage);
    await expectNoAccessibilityViolations(page);
    await takePictures(page, "phone-menu");
    await page.setViewportSize({ width: 380, height: 760 });
    await menu.getByRole("link", { name: "Domains" }).click();
    await page.waitForURL(`${backstamp.url}/console/domains`);
    await expect.poll(() => menu.count(), slowPage).toBe(0);
    await page.setViewportSize({ width: 1360, height: 900 });
    expectNoUnexpectedErrors();
  });
});

describe("two teams", () => {
  test("switch on the same page, which then has its team in the URL", async () => {
    await at("/console/domains");
    await page.getByRole("button", { name: /switch team/ }).click();
    await page.getByRole("menuitem", { name: "Second team" }).click();
    await page.waitForURL(`${backstamp.url}/console/domains?team=${secondTeam}`);
    // Only the built-in domain of every team, not the domain of the first team.
    const domains = page.getByRole("table", { name: "Domains" }).locator("tbody tr");
    await expect.poll(() => domains.count(), slowPage).toBe(1);
    expect(await domains.textContent()).toContain("backstamp.test");
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Emails" }).click();
    await page.waitForURL(`${backstamp.url}/console/emails?team=${secondTeam}`);
    await page.getByRole("heading", { name: "No emails yet" }).waitFor(slowPage);
    await page.getByRole("link", { name: "Backstamp", exact: true }).click();
    await page.waitForURL(`${backstamp.url}/console?team=${secondTeam}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor(slowPage);
    expectNoUnexpectedErrors();
  });

  test("work in two tabs at once, independently", async () => {
    await at("/console/emails");
    const other = await profile.context.newPage();
    await other.goto(`${backstamp.url}/console/emails?team=${secondTeam}`);
    await other.getByRole("heading", { name: "No emails yet" }).waitFor(slowPage);
    await page.reload();
    await page.getByText("delivered+nora@backstamp.test").first().waitFor(slowPage);
    await other.reload();
    await other.getByRole("heading", { name: "No emails yet" }).waitFor(slowPage);
    await other.close();
    expectNoUnexpectedErrors();
  });
});

test("the selected theme is kept after a reload", async () => {
  await at("/console/emails");
  await page.getByRole("button", { name: ADMIN.email }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect.poll(() => page.locator("html.dark").count(), slowPage).toBe(1);
  await page.reload();
  expect(await page.locator("html.dark").count()).toBe(1);
  await openPalette();
  await page.keyboard.insertText("system appearance");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("html.dark").count(), slowPage).toBe(0);
  expectNoUnexpectedErrors();
});

test("if code cannot be loaded although the service responds, the page stays and offers the new version", async () => {
  await at("/console/emails");
  await page.route("**/_next/static/**", (route) => route.abort());
  await pressUntil(
    () => page.keyboard.press("?"),
    () => page.getByRole("alert").getByText("This part of the page could not be loaded").isVisible(),
  );
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("button", { name: "Open new version" }).click();
  await page.locator("[data-row]").first().waitFor(slowPage);
  profile.errors = profile.errors.filter(({ text }) => !text.includes("ERR_FAILED"));
  expectNoUnexpectedErrors();
});
