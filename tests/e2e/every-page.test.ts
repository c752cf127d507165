import { readdirSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import {
  expectNoAccessibilityViolations,
  inDark,
  openBrowser,
  openProfile,
  signIn,
  takePicture,
  type Watched,
} from "./browser";
import { readPrinted, readRows, readScrollbars, readSelects, readShifts, recordShifts } from "./page-layout";
import { fillTeam, makeFreshTeam, PAGES, type TestData } from "./pages";
import { measureScripts, type ScriptSize } from "./script-size";
import { findBrokenAddresses } from "./whole-addresses";

/*
 * Every page, opened once, with the scrollbars of a desktop: rows keep their name and their menu at each
 * width, only what scrolls has a scrollbar, and nothing is cut, on paper either.
 */

/** In KB of 1,024 bytes, compressed. */
const everyPageKb = 200;
const nameMinPx = 140;
const heightPx = 900;
const widePx = 1360;
/** The narrowest window of each layout, and a phone. */
const NARROW_PX = [1024, 768, 380] as const;
const paperPx = 700;

let backstamp: Backstamp;
let browser: Browser;
let testData: TestData;
let withData: Visitor;
let fresh: Visitor;

type Visitor = { profile: Watched; page: Page; weigh: () => Promise<ScriptSize> };

beforeAll(async () => {
  browser = await openBrowser({ hasScrollbars: true });
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  testData = await fillTeam(backstamp);
  for (const name of ["ann", "maximiliane.von-der-heydebreck"])
    await backstamp.operate(
      ...["user", "create", `${name}@department.example.com`, "--password", ADMIN.password],
      ...["--role", "member"],
    );
  withData = await visit(ADMIN);
  fresh = await visit(await makeFreshTeam(backstamp));
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

async function visit({ email, password }: { email: string; password: string }): Promise<Visitor> {
  const profile = await openProfile(browser);
  await profile.context.addInitScript(recordShifts);
  const page = await profile.context.newPage();
  const weigh = measureScripts(page);
  await signIn(page, backstamp.url, email, password);
  return { profile, page, weigh };
}

async function open({ page }: Visitor, path: string, heading: string | RegExp): Promise<void> {
  await page.setViewportSize({ width: widePx, height: heightPx });
  await page.goto(`${backstamp.url}${path}`);
  await page.getByRole("heading", { name: heading }).first().waitFor();
  await page.waitForLoadState("networkidle");
  expect(await page.evaluate(readShifts)).toEqual([]);
}

/** The sandbox of a message frame also blocks our shift recorder, and the browser logs that. */
const isFrame = ({ at, text }: { at: string; text: string }) =>
  /\/body\?/.test(at) && text.startsWith("Blocked script execution");

const expectNoUnexpectedErrors = ({ profile: { dialogs, foreign, errors } }: Visitor) => {
  const odd = errors.splice(0).filter((error) => !isFrame(error));
  expect({ dialogs, foreign, odd }).toEqual({ dialogs: [], foreign: [], odd: [] });
};

/** Expects what fits in a wide window to fit in narrower ones, of which the last one stays open. */
async function expectFitsEachWidth(page: Page): Promise<void> {
  const read = () => page.evaluate(readRows, nameMinPx);
  const wide = await read();
  expect(wide.faults).toEqual([]);
  expect(await page.evaluate(findBrokenAddresses)).toEqual([]);
  for (const width of NARROW_PX) {
    await page.setViewportSize({ width, height: heightPx });
    // Charts adapt to the new width with a delay.
    await expect.poll(async () => (await read()).faults, { message: `at ${width}` }).toEqual([]);
    const { rows, menus } = await read();
    expect({ width, rows, menus }).toEqual({ width, rows: wide.rows, menus: wide.menus });
    expect({ width, faults: await page.evaluate(readScrollbars) }).toEqual({ width, faults: [] });
    expect(await page.evaluate(readSelects, width < 768)).toEqual([]);
    expect({ width, broken: await page.evaluate(findBrokenAddresses) }).toEqual({ width, broken: [] });
  }
}

async function expectPrinted(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: paperPx, height: 1000 });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const printed = await page.evaluate(readPrinted);
  await takePicture(page, `print-${name}`);
  await page.emulateMedia({ media: null, colorScheme: null });
  expect(printed).toEqual({ controls: [], cut: [], background: "rgb(255, 255, 255)", isWithin: true });
}

describe("with data", () => {
  for (const { name, file, pathOf, heading, title = heading, scriptKb = everyPageKb } of PAGES)
    test(`${name} is accessible in both themes, fits each width and paper, without layout shifts, within its script limit`, async () => {
      const { page, weigh } = withData;
      await open(withData, pathOf(testData), heading);
      // The title of an object's page names the object.
      if (file.includes("[")) expect(await page.title()).toMatch(title);
      const { untilUsable, untilRest } = await weigh();
      expect(untilUsable).toBeGreaterThan(10);
      expect(untilUsable).toBeLessThanOrEqual(everyPageKb);
      expect(untilRest).toBeLessThanOrEqual(scriptKb);
      await expectNoAccessibilityViolations(page);
      await takePicture(page, `all-${name}`);
      await expectFitsEachWidth(page);
      // A phone has other controls.
      await inDark(page, async () => {
        await expectNoAccessibilityViolations(page);
        await takePicture(page, `all-${name}-phone-dark`);
      });
      await expectPrinted(page, name);
      expectNoUnexpectedErrors(withData);
    });
});

describe("in a new team", () => {
  for (const { name, pathOf, heading } of PAGES.filter(({ isForFresh }) => isForFresh))
    test(`${name} is accessible and fits a phone, without layout shifts`, async () => {
      const { page } = fresh;
      await open(fresh, pathOf(testData), heading);
      // Members do not have the terminal of the server.
      const text = await page.getByRole("main").innerText();
      expect(text).not.toMatch(/\bnpm |\bbackstamp (key|domain|relay)\b/);
      await page.setViewportSize({ width: 380, height: heightPx });
      await expect.poll(() => page.evaluate(readRows, nameMinPx)).toMatchObject({ faults: [] });
      await expectNoAccessibilityViolations(page);
      await takePicture(page, `all-${name}-empty`);
      expectNoUnexpectedErrors(fresh);
    });
});

test("signing in has no layout shifts, and its script is within its limit", async () => {
  const { context } = await openProfile(browser);
  await context.addInitScript(recordShifts);
  const page = await context.newPage();
  const weigh = measureScripts(page);
  await page.goto(`${backstamp.url}/login`);
  await page.getByRole("heading").first().waitFor();
  await page.waitForLoadState("networkidle");
  const { untilRest } = await weigh();
  expect(untilRest).toBeGreaterThan(10);
  expect(untilRest).toBeLessThanOrEqual(everyPageKb);
  expect(await page.evaluate(readShifts)).toEqual([]);
  await context.close();
});

test("no page of the console is missing from the list", () => {
  const found = readdirSync(path.join(projectRoot, "app/console"), { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === "page.tsx")
    .map((file) => path.posix.join("console", path.dirname(file)));
  // This page only redirects.
  const redirects = ["console/settings"];
  expect(found.filter((file) => !redirects.includes(file)).sort()).toEqual(
    PAGES.map(({ file }) => file).sort(),
  );
});

/** The color of the picture of the window at a point. */
async function colorAt(page: Page, x: number, y: number): Promise<string> {
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
  const { page } = withData;
  await page.setViewportSize({ width: 1280, height: 480 });
  await page.goto(`${backstamp.url}/console/keys`);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).waitFor();
  await expect
    .poll(async () => (await colorAt(page, 1275, 470)) === (await colorAt(page, 1240, 470)))
    .toBe(true);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("a dialog has one scrollbar at most, and the page below it does not move", async () => {
  const { page } = withData;
  await page.setViewportSize({ width: 1280, height: 480 });
  await page.goto(`${backstamp.url}/console/keys`);
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
  // Outside the rounded corner is the backdrop, which is darker than any page, and not the scrollbar.
  const box = await page.getByRole("dialog").boundingBox();
  if (!box) throw new Error("The dialog has no box.");
  const corner = await colorAt(page, Math.floor(box.x + box.width) - 3, Math.floor(box.y + box.height) - 3);
  expect(Number.parseInt(corner, 10)).toBeLessThan(200);
  expect(await page.evaluate(readScrollbars)).toEqual([]);
});

describe("a line of tabs on a phone", () => {
  test.each([
    "/console/installation/destinations",
    "/console/installation/teams",
    "/console/settings/personal-data",
  ])("shows the tab of %s, and fades where it hides others", async (path) => {
    const { page } = withData;
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
