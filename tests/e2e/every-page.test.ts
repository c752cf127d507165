import { readdirSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { ADMIN, openSite } from "./backstamp";
import {
  expectNoAccessibilityViolations,
  inDark,
  openProfile,
  signIn,
  takePicture,
  type Watched,
} from "./browser";
import { readPrinted, readRows, readScrollbars, readSelects, readShifts, recordShifts } from "./page-layout";
import { fillTeam, makeFreshTeam, PAGES } from "./pages";
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

const { backstamp, browser } = await openSite({ SMTP_URL: "capture:" }, { hasScrollbars: true });
const testData = await fillTeam(backstamp);
let withData: Visitor;
let fresh: Visitor;

type Visitor = { profile: Watched; page: Page; weigh: () => Promise<ScriptSize> };

beforeAll(async () => {
  for (const name of ["ann", "maximiliane.von-der-heydebreck"])
    await backstamp.operate(
      ...["user", "create", `${name}@department.example.com`, "--password", ADMIN.password],
      ...["--role", "member"],
    );
  withData = await visit(ADMIN);
  fresh = await visit(await makeFreshTeam(backstamp));
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
