import { readdirSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import {
  expectDarkAndNarrow,
  expectNoAccessibilityViolations,
  openBrowser,
  openProfile,
  signIn,
  type Watched,
} from "./browser";
import { fillTeam, makeFreshTeam, PAGES, type TestData } from "./pages";
import { measureScripts, type ScriptSize } from "./script-size";
import { expectWholeAddresses } from "./whole-addresses";

/** In KB of 1,024 bytes, compressed. */
const everyPageKb = 200;

let backstamp: Backstamp;
let browser: Browser;
let testData: TestData;
let withData: Visitor;
let fresh: Visitor;

type Visitor = { profile: Watched; page: Page; weigh: () => Promise<ScriptSize> };

beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  testData = await fillTeam(backstamp);
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

type Shifts = { shifts?: string[] };

/** Runs in the browser: records each layout shift that was not caused by user input. */
function recordShifts(): void {
  const shifts: string[] = [];
  (window as Shifts).shifts = shifts;
  type Source = { node?: Node; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly };
  type Shift = PerformanceEntry & { hadRecentInput: boolean; sources: Source[] };
  const format = ({ x, y, width, height }: DOMRectReadOnly) => `${x},${y} ${width}x${height}`;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources } of list.getEntries() as Shift[]) {
      if (hadRecentInput) continue;
      // A text node that is replaced in place, such as a relative time, is reported although it did not move.
      const moved = sources.filter((each) => format(each.previousRect) !== format(each.currentRect));
      for (const { node, previousRect, currentRect } of moved) {
        const what = node instanceof Element ? node.outerHTML.slice(0, 200) : "a removed element";
        shifts.push(`${what}: ${format(previousRect)} to ${format(currentRect)}`);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
}

const open = async ({ page }: Visitor, path: string, heading: string | RegExp) => {
  await page.goto(`${backstamp.url}${path}`);
  await page.getByRole("heading", { name: heading }).first().waitFor();
  await page.waitForLoadState("networkidle");
};

/** The sandbox of a message frame also blocks our shift recorder, and the browser logs that. */
const isFrame = ({ at, text }: { at: string; text: string }) =>
  /\/body\?/.test(at) && text.startsWith("Blocked script execution");

const expectNoUnexpectedErrors = ({ profile: { dialogs, foreign, errors } }: Visitor) => {
  const odd = errors.splice(0).filter((error) => !isFrame(error));
  expect({ dialogs, foreign, odd }).toEqual({ dialogs: [], foreign: [], odd: [] });
};

const expectNoShifts = async ({ page }: Visitor) =>
  expect(await page.evaluate(() => (window as Shifts).shifts)).toEqual([]);

describe("with data", () => {
  for (const { name, file, pathOf, heading, title = heading, scriptKb = everyPageKb } of PAGES)
    test(`${name} is accessible in both themes and on a phone, without layout shifts, within its script limit`, async () => {
      await open(withData, pathOf(testData), heading);
      // The title of an object's page names the object.
      if (file.includes("[")) expect(await withData.page.title()).toMatch(title);
      await expectNoShifts(withData);
      const { untilUsable, untilRest } = await withData.weigh();
      expect(untilUsable).toBeGreaterThan(10);
      expect(untilUsable).toBeLessThanOrEqual(everyPageKb);
      expect(untilRest).toBeLessThanOrEqual(scriptKb);
      await expectNoAccessibilityViolations(withData.page);
      await expectDarkAndNarrow(withData.page, `all-${name}`);
      await expectWholeAddresses(withData.page);
      expectNoUnexpectedErrors(withData);
    });
});

describe("in a new team", () => {
  for (const { name, pathOf, heading } of PAGES.filter(({ isForFresh }) => isForFresh))
    test(`${name} is accessible in both themes and on a phone, without layout shifts`, async () => {
      await open(fresh, pathOf(testData), heading);
      await expectNoShifts(fresh);
      await expectNoAccessibilityViolations(fresh.page);
      // Members do not have the terminal of the server.
      const text = await fresh.page.getByRole("main").innerText();
      expect(text).not.toMatch(/\bnpm |\bbackstamp (key|domain|relay)\b/);
      await expectDarkAndNarrow(fresh.page, `all-${name}-empty`);
      expectNoUnexpectedErrors(fresh);
    });
});

describe("without a session", () => {
  test("the script of signing in is within its limit", async () => {
    const page = await (await openProfile(browser)).context.newPage();
    const weigh = measureScripts(page);
    await page.goto(`${backstamp.url}/login`);
    await page.getByRole("heading").first().waitFor();
    await page.waitForLoadState("networkidle");
    const { untilRest } = await weigh();
    expect(untilRest).toBeGreaterThan(10);
    expect(untilRest).toBeLessThanOrEqual(everyPageKb);
    await page.context().close();
  });
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
