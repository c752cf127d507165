import type { Browser, Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectNoBarriers, openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { type Filled, fillTeam } from "./pages";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
let filled: Filled;
let secondTeam: string;

const patience = { timeout: 60_000 };

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  filled = await fillTeam(posthorn);
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
  secondTeam = await page.evaluate(async () => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "Second house" });
    const made = await (await fetch("/api/trpc/team.create", { method: "POST", headers, body })).json();
    return String(made.result.data.id);
  });
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

const expectNothingOdd = () => {
  const { dialogs, foreign, errors } = profile;
  expect({ dialogs, foreign, errors: errors.splice(0) }).toEqual({ dialogs: [], foreign: [], errors: [] });
};
const at = async (path: string) => {
  await page.goto(`${posthorn.url}${path}`);
  await page.locator("[data-row]").first().waitFor(patience);
};
const palette = () => page.getByRole("dialog", { name: "Search and commands" });
/** A key that is pressed before the page is awake does nothing, so it is pressed until it did. */
const pressUntil = async (press: () => Promise<unknown>, isDone: () => Promise<boolean>) =>
  expect
    .poll(async () => {
      if (!(await isDone())) await press();
      return isDone();
    }, patience)
    .toBe(true);
const openPalette = () =>
  pressUntil(
    () => page.keyboard.press("Control+k"),
    () => palette().isVisible(),
  );

describe("the palette", () => {
  test("leads to a page by its name, without a mouse", async () => {
    await at("/console/emails");
    await openPalette();
    await expectNoBarriers(page);
    await takePictures(page, "palette");
    await page.keyboard.type("domai");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${posthorn.url}/console/domains`);
    expect(await palette().count()).toBe(0);
    expectNothingOdd();
  });

  test("finds a mail by its recipient, its subject and its id, and a domain by its name", async () => {
    for (const [text, address] of [
      ["delivered+nora@posthorn.test", `/console/emails/${filled.email}`],
      ["receipt", `/console/emails/${filled.email}`],
      [filled.email, `/console/emails/${filled.email}`],
      ["mail.example", `/console/domains/${filled.domain}`],
    ] as const) {
      await at("/console/emails");
      await openPalette();
      await page.keyboard.insertText(text);
      const option = palette().getByRole("option", {
        name: text === filled.email ? "Open the mail with this id" : /Your receipt|mail\.example\.com/,
      });
      await option.first().click(patience);
      await page.waitForURL(`${posthorn.url}${address}`);
    }
    expectNothingOdd();
  });

  test("opens the form for a new thing, and a step back does not open it again", async () => {
    await at("/console/emails");
    await openPalette();
    await page.keyboard.insertText("add domain");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Add a domain" }).waitFor(patience);
    expect(new URL(page.url()).search).toBe("");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count(), patience).toBe(0);
    await page.goBack();
    await page.goForward();
    await page.getByRole("heading", { name: "Domains" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expectNothingOdd();
  });

  test("gives the focus back when it is left", async () => {
    await at("/console/emails");
    const button = page.getByRole("button", { name: "Search…" });
    await pressUntil(
      () => button.press("Enter"),
      () => palette().isVisible(),
    );
    await page.keyboard.press("Escape");
    await expect.poll(() => button.evaluate((node) => node === document.activeElement), patience).toBe(true);
    expectNothingOdd();
  });
});

describe("the keys", () => {
  test("are told on ?", async () => {
    await at("/console/emails");
    const help = page.getByRole("dialog", { name: "Keys" });
    await pressUntil(
      () => page.keyboard.press("?"),
      () => help.isVisible(),
    );
    await expectNoBarriers(page);
    await takePictures(page, "keys");
    // Above the page, its letters do nothing.
    for (const key of ["g", "d", "j"]) await page.keyboard.press(key);
    await page.keyboard.press("Escape");
    await expect.poll(() => help.count(), patience).toBe(0);
    expect(page.url()).toBe(`${posthorn.url}/console/emails`);
  });

  test("lead from page to page by g and a letter", async () => {
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
          await page.waitForURL(`${posthorn.url}${path}`, { timeout: 5_000 }).catch(() => {});
        },
        async () => page.url() === `${posthorn.url}${path}`,
      );
    }
    expectNothingOdd();
  });

  test("move through a table and open its row; with Ctrl, Alt or Meta they are the browser's", async () => {
    await at("/console/domains");
    const isOnRow = () => page.evaluate(() => document.activeElement?.matches("[data-row]") ?? false);
    for (const held of ["Control+j", "Alt+j", "Meta+j"]) await page.keyboard.press(held);
    expect(await isOnRow()).toBe(false);
    await pressUntil(() => page.keyboard.press("j"), isOnRow);
    const name = await page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: name ?? "" }).waitFor(patience);
    expectNothingOdd();
  });

  test("are letters where somebody types", async () => {
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
  test("all pages are behind one button, which a thumb can hit", async () => {
    await page.setViewportSize({ width: 380, height: 760 });
    await at("/console/emails");
    const button = page.getByRole("button", { name: "Menu" });
    const box = await button.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    await button.click();
    const menu = page.getByRole("dialog", { name: "Menu" });
    await menu.getByRole("link", { name: "Domains" }).waitFor(patience);
    await expectNoBarriers(page);
    await takePictures(page, "phone-menu");
    await page.setViewportSize({ width: 380, height: 760 });
    await menu.getByRole("link", { name: "Domains" }).click();
    await page.waitForURL(`${posthorn.url}/console/domains`);
    await expect.poll(() => menu.count(), patience).toBe(0);
    await page.setViewportSize({ width: 1360, height: 900 });
    expectNothingOdd();
  });
});

describe("two teams", () => {
  test("are switched on the same page, which then names its team in its address", async () => {
    await at("/console/domains");
    await page.getByRole("button", { name: /switch the team/ }).click();
    await page.getByRole("menuitem", { name: "Second house" }).click();
    await page.waitForURL(`${posthorn.url}/console/domains?team=${secondTeam}`);
    // The one that every team has, and not that of the first team.
    const domains = page.getByRole("table", { name: "Domains" }).locator("tbody tr");
    await expect.poll(() => domains.count(), patience).toBe(1);
    expect(await domains.textContent()).toContain("posthorn.test");
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Emails" }).click();
    await page.waitForURL(`${posthorn.url}/console/emails?team=${secondTeam}`);
    await page.getByRole("heading", { name: "No mail yet" }).waitFor(patience);
    await page.getByRole("link", { name: "Posthorn", exact: true }).click();
    await page.waitForURL(`${posthorn.url}/console?team=${secondTeam}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor(patience);
    expectNothingOdd();
  });

  test("stand in two tabs at once, each for itself", async () => {
    await at("/console/emails");
    const other = await profile.context.newPage();
    await other.goto(`${posthorn.url}/console/emails?team=${secondTeam}`);
    await other.getByRole("heading", { name: "No mail yet" }).waitFor(patience);
    await page.reload();
    await page.getByText("delivered+nora@posthorn.test").first().waitFor(patience);
    await other.reload();
    await other.getByRole("heading", { name: "No mail yet" }).waitFor(patience);
    await other.close();
    expectNothingOdd();
  });
});

test("a page of the menu is fetched ahead once it is pointed at, and no other", async () => {
  const ahead: string[] = [];
  const note = (request: Request) => {
    if (request.headers()["next-router-prefetch"]) ahead.push(new URL(request.url()).pathname);
  };
  await at("/console/keys");
  await page.waitForLoadState("networkidle");
  page.on("request", note);
  await page.reload({ waitUntil: "networkidle" });
  expect(ahead).toEqual([]);
  await page.getByRole("link", { name: "Domains" }).hover();
  await expect.poll(() => ahead, patience).toContain("/console/domains");
  expect(new Set(ahead).size).toBe(1);
  page.off("request", note);
  expectNothingOdd();
});

test("light or dark stays as it was chosen", async () => {
  await at("/console/emails");
  await page.getByRole("button", { name: ADMIN.email }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect.poll(() => page.locator("html.dark").count(), patience).toBe(1);
  await page.reload();
  expect(await page.locator("html.dark").count()).toBe(1);
  await openPalette();
  await page.keyboard.insertText("appearance as the system");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("html.dark").count(), patience).toBe(0);
  expectNothingOdd();
});

test("code that cannot be fetched leaves the page as it is, and says what to do", async () => {
  await at("/console/emails");
  await page.route("**/_next/static/**", (route) => route.abort());
  await pressUntil(
    () => page.keyboard.press("?"),
    () => page.getByRole("alert").getByText("This part could not be fetched.").isVisible(),
  );
  await page.unroute("**/_next/static/**");
  await page.getByRole("button", { name: "Load the page again" }).click();
  await page.locator("[data-row]").first().waitFor(patience);
  profile.errors = profile.errors.filter(({ text }) => !text.includes("ERR_FAILED"));
  expectNothingOdd();
});
