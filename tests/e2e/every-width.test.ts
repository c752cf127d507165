import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { openBrowser, openProfile, signIn } from "./browser";
import { fillTeam, PAGES, type TestData } from "./pages";

/*
 * Every page at the widths between a phone and a desktop, with the scrollbars of a desktop, and on paper:
 * rows keep their name and their menu, only what scrolls has a scrollbar, and nothing is cut.
 */

let backstamp: Backstamp;
let browser: Browser;
let page: Page;
let testData: TestData;
beforeAll(async () => {
  browser = await openBrowser({ hasScrollbars: true });
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  testData = await fillTeam(backstamp);
  for (const name of ["ann", "maximiliane.von-der-heydebreck"])
    await backstamp.operate(
      ...["user", "create", `${name}@department.example.com`, "--password", ADMIN.password],
      ...["--role", "member"],
    );
  page = await (await openProfile(browser)).context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

let opened = "";

/** Opens a page, unless the test before this one did. */
async function open(name: string): Promise<void> {
  if (opened === name) return;
  const { pathOf, heading } = PAGES.find((each) => each.name === name) as (typeof PAGES)[number];
  await page.goto(backstamp.url + pathOf(testData));
  await page.getByRole("heading", { name: heading }).first().waitFor();
  await page.waitForLoadState("networkidle");
  opened = name;
}

const nameMinPx = 140;

/** Runs in the browser: the menus of rows, and what is wrong with the rows. */
function readRows(minPx: number): { rows: number; menus: number; faults: string[] } {
  const faults: string[] = [];
  const rows = [...document.querySelectorAll("main tbody tr, main ul[aria-label='Emails'] > li")];
  let menus = 0;
  for (const row of rows) {
    const name = row.querySelector(row.tagName === "TR" ? "td" : ".font-medium");
    const text = row.textContent?.slice(0, 60);
    const { width = 0 } = name?.getBoundingClientRect() ?? {};
    const isCut = [name, ...(name?.querySelectorAll("*") ?? [])].some(
      (each) =>
        each && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX === "hidden",
    );
    if (isCut && width < minPx) faults.push(`${text}: the name has ${width} px`);
    for (const menu of row.querySelectorAll("button[aria-haspopup='menu']")) {
      menu.scrollIntoView({ block: "center" });
      const box = menu.getBoundingClientRect();
      const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      if (row.tagName === "TR" && name && box.top > name.getBoundingClientRect().bottom)
        faults.push(`${text}: the menu is below the name`);
      if (found && menu.contains(found) && box.right <= innerWidth) menus++;
      else faults.push(`${text}: the menu is covered or outside`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  return { rows: rows.length, menus, faults };
}

/** Runs in the browser: scrollbars where nothing scrolls, or by a pixel or two only. */
function readScrollbars(): string[] {
  const faults: string[] = [];
  for (const element of document.querySelectorAll<HTMLElement>("body, body *")) {
    const { overflowX, overflowY } = getComputedStyle(element);
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
    const name = `${element.tagName} ${element.className}`.slice(0, 80);
    if (overflowX === "scroll" || overflowY === "scroll") faults.push(`always: ${name}`);
    if (clientWidth === 0 || clientHeight === 0) continue;
    const [sideways, down] = [scrollWidth - clientWidth, scrollHeight - clientHeight];
    if (overflowY === "auto" && down > 0 && down <= 3) faults.push(`${down} px down: ${name}`);
    if (overflowX === "auto" && sideways > 0 && sideways <= 3)
      faults.push(`${sideways} px sideways: ${name}`);
  }
  return faults;
}

/** Runs in the browser: selects that do not have the style of the text fields. */
function readSelects(isPhone: boolean): string[] {
  const faults: string[] = [];
  for (const select of document.querySelectorAll("main select")) {
    const style = getComputedStyle(select);
    const { height } = select.getBoundingClientRect();
    if (height === 0) continue;
    if (style.appearance !== "none" || !select.parentElement?.querySelector("svg"))
      faults.push("not our style");
    if (style.backgroundColor !== getComputedStyle(document.body).backgroundColor)
      faults.push("another color");
    if (isPhone && height < 44) faults.push(`only ${height} px high`);
  }
  return faults;
}

describe.each(PAGES.map(({ name }) => name))("%s", (name) => {
  test("keeps names and menus of rows, and has no empty scrollbar, at every width", async () => {
    await page.setViewportSize({ width: 1360, height: 900 });
    await open(name);
    const wide = await page.evaluate(readRows, nameMinPx);
    expect(wide.faults).toEqual([]);
    for (const width of [1100, 1024, 1000, 820, 768, 380]) {
      await page.setViewportSize({ width, height: 900 });
      // Charts adapt to the new width with a delay.
      const faults = async () => (await page.evaluate(readRows, nameMinPx)).faults;
      await expect.poll(faults, { message: `at ${width}` }).toEqual([]);
      const { rows, menus } = await page.evaluate(readRows, nameMinPx);
      expect({ width, rows, menus }).toEqual({ width, rows: wide.rows, menus: wide.menus });
      expect({ width, faults: await page.evaluate(readScrollbars) }).toEqual({ width, faults: [] });
      expect(await page.evaluate(readSelects, width < 768)).toEqual([]);
    }
  });

  test("is printed in light colors, without controls, and nothing is cut", async () => {
    await page.setViewportSize({ width: 700, height: 1000 });
    await open(name);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const printed = await page.evaluate(() => {
      const isVisible = (element: Element) => element.checkVisibility();
      const controls = [
        ...document.querySelectorAll("button, [role=tab], header, search, [data-sonner-toaster]"),
      ]
        .filter((each) => isVisible(each) && !each.matches("[data-row], [aria-pressed='true']"))
        .filter((each) => each.closest("main, body > div > header, [role=status]") !== null);
      const cut = [...document.querySelectorAll<HTMLElement>("main *")].filter(
        (each) =>
          isVisible(each) &&
          getComputedStyle(each).overflowX === "hidden" &&
          each.clientWidth > 1 &&
          each.scrollWidth > each.clientWidth + 1,
      );
      return {
        controls: controls.map((each) => each.outerHTML.slice(0, 100)),
        cut: cut.map((each) => each.outerHTML.slice(0, 100)),
        background: getComputedStyle(document.body).backgroundColor,
        isWithin: document.documentElement.scrollWidth <= 700,
      };
    });
    if (process.env.E2E_PICTURES === "1") {
      const folder = path.join(projectRoot, "tests/.artifacts");
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: path.join(folder, `print-${name}.png`), fullPage: true });
    }
    await page.emulateMedia({ media: null, colorScheme: null });
    expect(printed).toEqual({ controls: [], cut: [], background: "rgb(255, 255, 255)", isWithin: true });
  });
});

/** The color of the picture of the window at a point. */
async function colorAt(x: number, y: number): Promise<string> {
  const picture = (await page.screenshot()).toString("base64");
  const blank = await page.context().newPage();
  const color = await blank.evaluate(
    async ([source, x, y]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${source}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
      canvas?.drawImage(image, 0, 0);
      return String(canvas?.getImageData(x, y, 1, 1).data);
    },
    [picture, x, y] as const,
  );
  await blank.close();
  return color;
}

test("the backdrop of a dialog covers the gutter of the scrollbar", async () => {
  await page.setViewportSize({ width: 1280, height: 480 });
  await open("keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).waitFor();
  await expect.poll(async () => (await colorAt(1275, 470)) === (await colorAt(1240, 470))).toBe(true);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("a dialog has one scrollbar at most, and the page below it does not move", async () => {
  await page.setViewportSize({ width: 1280, height: 480 });
  await open("keys");
  const heading = page.locator("main h1");
  const before = await heading.boundingBox();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).waitFor();
  expect(await heading.boundingBox()).toEqual(before);
  const scrollers = await page
    .getByRole("dialog")
    .evaluate(
      (dialog) =>
        [dialog, ...dialog.querySelectorAll("*")].filter(
          (each) =>
            each.scrollHeight > each.clientHeight + 1 &&
            ["auto", "scroll"].includes(getComputedStyle(each).overflowY),
        ).length,
    );
  expect(scrollers).toBe(1);
  expect(await page.evaluate(readScrollbars)).toEqual([]);
});

describe("a line of tabs on a phone", () => {
  test.each([
    "/console/installation/destinations",
    "/console/installation/teams",
    "/console/settings/personal-data",
  ])("shows the tab of %s, and fades where it hides others", async (path) => {
    await page.setViewportSize({ width: 380, height: 760 });
    await page.goto(`${backstamp.url}${path}`);
    const strip = page.locator("main nav").filter({ has: page.locator("[aria-current=page]") });
    const isVisible = () =>
      strip.evaluate((nav) => {
        const [line, tab] = [nav, nav.querySelector("[aria-current=page]")].map((each) =>
          each?.getBoundingClientRect(),
        );
        return line && tab ? tab.left >= line.left && tab.right <= line.right : false;
      });
    await expect.poll(isVisible).toBe(true);
    const hidden = () =>
      strip.evaluate((nav) =>
        ["left", "right"].filter((side) => nav.style.getPropertyValue(`--hidden-${side}`) !== "0px"),
      );
    await expect.poll(async () => (await hidden())[0]).toBe("left");
    await strip.evaluate((nav) => nav.scrollTo({ left: 0 }));
    await expect.poll(hidden).toEqual(["right"]);
    await page.setViewportSize({ width: 1360, height: 900 });
    await expect.poll(hidden).toEqual([]);
  });
});
