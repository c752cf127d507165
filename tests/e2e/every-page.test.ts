import { readdirSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes";
import { expectGoodLooks, expectNoBarriers, openBrowser, openProfile, signIn, type Watched } from "./browser";
import { type Filled, fillTeam, makeFreshTeam, PAGES } from "./pages";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";
import { type ScriptWeight, weighScripts } from "./script-weight";

/** In KB of 1,024 bytes, compressed. */
const everyPageKb = 200;
/** The reference is a library's whole reader of OpenAPI documents, loaded after the page says that it comes. */
const referenceKb = 700;

let posthorn: Posthorn;
let browser: Browser;
let filled: Filled;
let withData: Visitor;
let fresh: Visitor;

type Visitor = { profile: Watched; page: Page; weigh: () => Promise<ScriptWeight> };

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  filled = await fillTeam(posthorn);
  withData = await visit(ADMIN);
  fresh = await visit(await makeFreshTeam(posthorn));
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

async function visit({ email, password }: { email: string; password: string }): Promise<Visitor> {
  const profile = await openProfile(browser);
  await profile.context.addInitScript(recordShifts);
  const page = await profile.context.newPage();
  const weigh = weighScripts(page);
  await signIn(page, posthorn.url, email, password);
  return { profile, page, weigh };
}

type Shifts = { shifts?: string[] };

/** Runs in the browser: notes each part that moved without anybody having touched the page. */
function recordShifts(): void {
  const shifts: string[] = [];
  (window as Shifts).shifts = shifts;
  type Source = { node?: Node; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly };
  type Shift = PerformanceEntry & { hadRecentInput: boolean; sources: Source[] };
  const say = ({ x, y, width, height }: DOMRectReadOnly) => `${x},${y} ${width}x${height}`;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources } of list.getEntries() as Shift[]) {
      if (hadRecentInput) continue;
      // A text that was set anew where it stood, as a time does, counts as moved without having moved.
      const moved = sources.filter((each) => say(each.previousRect) !== say(each.currentRect));
      for (const { node, previousRect, currentRect } of moved) {
        const what = node instanceof Element ? node.outerHTML.slice(0, 200) : "what is gone again";
        shifts.push(`${what}: ${say(previousRect)} to ${say(currentRect)}`);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
}

const open = async ({ page }: Visitor, path: string, heading: string | RegExp) => {
  await page.goto(`${posthorn.url}${path}`);
  await page.getByRole("heading", { name: heading }).first().waitFor();
  await page.waitForLoadState("networkidle");
};

/** In a message's frame even what records the shifts is refused, as it must be, and the browser notes that. */
const isFrame = ({ at, text }: { at: string; text: string }) =>
  /\/body\?/.test(at) && text.startsWith("Blocked script execution");

const expectNothingOdd = ({ profile: { dialogs, foreign, errors } }: Visitor) => {
  const odd = errors.splice(0).filter((error) => !isFrame(error));
  expect({ dialogs, foreign, odd }).toEqual({ dialogs: [], foreign: [], odd: [] });
};

const expectStillness = async ({ page }: Visitor) =>
  expect(await page.evaluate(() => (window as Shifts).shifts)).toEqual([]);

describe("with data", () => {
  for (const { name, pathOf, heading, scriptKb = everyPageKb } of PAGES)
    test(`${name} is usable by everybody, in both themes and on a phone, holds still, and is light`, async () => {
      await open(withData, pathOf(filled), heading);
      await expectStillness(withData);
      const { untilUsable, untilRest } = await withData.weigh();
      expect(untilUsable).toBeGreaterThan(10);
      expect(untilUsable).toBeLessThanOrEqual(everyPageKb);
      expect(untilRest).toBeLessThanOrEqual(scriptKb);
      await expectNoBarriers(withData.page);
      await expectGoodLooks(withData.page, `all-${name}`);
      expectNothingOdd(withData);
    });
});

describe("in a team that has nothing yet", () => {
  for (const { name, pathOf, heading } of PAGES.filter(({ isForFresh }) => isForFresh))
    test(`${name} says what to do next, to everybody, in both themes and on a phone`, async () => {
      await open(fresh, pathOf(filled), heading);
      await expectStillness(fresh);
      await expectNoBarriers(fresh.page);
      await expectGoodLooks(fresh.page, `all-${name}-empty`);
      expectNothingOdd(fresh);
    });
});

describe("to whoever is not signed in", () => {
  test.each([
    ["signing in", "/login", /./, everyPageKb],
    ["the API reference", "/docs", /^Posthorn/, referenceKb],
  ])("the script of %s is light", async (_, address, heading, maxKb) => {
    const page = await (await openProfile(browser)).context.newPage();
    const weigh = weighScripts(page);
    await page.goto(posthorn.url + address);
    await page.getByRole("heading", { name: heading }).first().waitFor();
    await page.waitForLoadState("networkidle");
    const { untilRest } = await weigh();
    expect(untilRest).toBeGreaterThan(10);
    expect(untilRest).toBeLessThanOrEqual(maxKb);
    await page.context().close();
  });
});

test("no page of the console is missing from the list", () => {
  const found = readdirSync(path.join(projectRoot, "app/console"), { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === "page.tsx")
    .map((file) => path.posix.join("console", path.dirname(file)));
  // It only leads on.
  const leads = ["console/settings"];
  expect(found.filter((file) => !leads.includes(file)).sort()).toEqual(PAGES.map(({ file }) => file).sort());
});
