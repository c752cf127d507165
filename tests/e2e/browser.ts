import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Response,
} from "playwright-core";
import { expect } from "vitest";
import { projectRoot } from "../support/processes/processes";
import { startOtherHosts } from "./other-hosts";

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
const artifacts = path.join(projectRoot, "tests/.artifacts");

/**
 * Starts Chromium, by default without scrollbars as on a phone. If it is missing, this throws an error with
 * the command that installs it.
 */
export async function openBrowser({ hasScrollbars = false } = {}): Promise<Browser> {
  if (!existsSync(program))
    throw new Error(
      `Chromium not found at ${program}. Install it (apt-get install chromium) or set CHROMIUM to its path.`,
    );
  // Without site isolation: only our own sandbox and policies protect the page, and the tests run faster.
  return chromium.launch({
    executablePath: program,
    args: ["--no-sandbox", "--disable-site-isolation-trials"],
    ignoreDefaultArgs: hasScrollbars ? ["--hide-scrollbars"] : [],
  });
}

/** A browser profile with a record of everything unexpected. */
export type Watched = {
  context: BrowserContext;
  /** Text of every dialog that a page opened. */
  dialogs: string[];
  /** Requested URLs on other hosts. The requests never leave this machine. */
  foreign: string[];
  /** Errors in the browser console with their source URL, and uncaught exceptions of pages. */
  errors: { text: string; at: string }[];
};

/** Expects that no page opened a dialog, contacted another host or logged an error. */
export function expectNoErrors({ dialogs, foreign, errors }: Watched): void {
  expect({ dialogs, foreign, errors }).toEqual({ dialogs: [], foreign: [], errors: [] });
}

/** A new browser profile. Requests to other hosts are recorded and get no response. */
export async function openProfile(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const elsewhere = await startOtherHosts();
  const context = await browser.newContext({
    viewport: { width: 1360, height: 900 },
    proxy: { server: elsewhere.url, bypass: "localhost" },
    ignoreHTTPSErrors: true,
    ...options,
  });
  context.on("close", () => elsewhere.stop());
  context.setDefaultTimeout(240_000);
  const watched: Watched = { context, dialogs: [], foreign: elsewhere.addresses, errors: [] };
  context.on("page", (page) => {
    page.on("dialog", (dialog) => {
      watched.dialogs.push(dialog.message());
      void dialog.dismiss().catch(() => {});
    });
    page.on("console", (message) => {
      if (message.type() === "error")
        watched.errors.push({ text: message.text(), at: message.location().url });
    });
    page.on("pageerror", (error) => void watched.errors.push({ text: String(error), at: page.url() }));
    awaitStreamedParts(page);
  });
  return watched;
}

/**
 * Makes a loaded page count as loaded only once its late parts are in place. Until then each of them is in
 * the document twice: in the page, and hidden where the response brought it, so that a locator finds two
 * elements. A page that turned into another one, such as "Not found", keeps its parts; so the wait has an
 * end.
 */
function awaitStreamedParts(page: Page): void {
  // A document that forbids scripts has no late parts.
  const isPending = () =>
    page.evaluate(() => document.querySelector('[hidden][id^="S:"]') !== null).catch(() => false);
  const inPlace = async (response: Response | null) => {
    for (let asked = 0; asked < 100 && (await isPending()); asked++) await wait(20);
    return response;
  };
  const goto = page.goto.bind(page);
  const reload = page.reload.bind(page);
  const goBack = page.goBack.bind(page);
  page.goto = async (...given) => inPlace(await goto(...given));
  page.reload = async (...given) => inPlace(await reload(...given));
  page.goBack = async (...given) => inPlace(await goBack(...given));
}

export async function signIn(page: Page, url: string, email: string, password: string): Promise<void> {
  await page.goto(`${url}/login`);
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(/\/console(?:[/?]|$)/);
}

/** Screenshots cost seconds per page and are rarely needed. `E2E_PICTURES=1` enables them. */
const takesPictures = process.env.E2E_PICTURES === "1";

/** Takes a screenshot, if they are enabled. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!takesPictures) return;
  mkdirSync(artifacts, { recursive: true });
  await page.screenshot({ path: path.join(artifacts, `${name}.png`), fullPage: true });
}

/** The widths of a laptop and of a small phone, in pixels. */
const WIDTHS = { laptop: 1280, phone: 380 } as const;

/**
 * Expects no horizontal scrolling at either width, and no accessibility violations in the dark theme on a
 * phone, whose pages have other controls. Restores the theme and the size.
 */
export async function expectDarkAndNarrow(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  const take = (variant: string) => takePicture(page, `${name}-${variant}`);
  await take("light");
  if (takesPictures) await inDark(page, () => take("dark"));
  for (const [variant, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: 760 });
    // Charts adapt to the new width with a delay.
    const contentWidth = () => page.evaluate(() => document.documentElement.scrollWidth);
    await expect.poll(contentWidth, { message: variant }).toBeLessThanOrEqual(width);
    await take(variant);
  }
  await inDark(page, async () => {
    await expectNoAccessibilityViolations(page);
    await take("phone-dark");
  });
  if (size) await page.setViewportSize(size);
}

/** Runs in the dark theme, and restores the light one. */
export async function inDark(page: Page, run: () => Promise<void>): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(() => page.locator("html.dark").count()).toBe(1);
  await run();
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => page.locator("html.dark").count()).toBe(0);
}

/**
 * Takes screenshots in the middle of a suite, if they are enabled. Another suite covers all pages of the
 * console. An open dialog is always checked, and so are the colors of other pages in the dark theme.
 */
export async function takePictures(page: Page, name: string): Promise<void> {
  if ((await page.locator(DIALOG).count()) > 0) await expectAccessibleDialog(page);
  if (takesPictures) await expectDarkAndNarrow(page, name);
  else if (!/^\/console(\/|$)/.test(new URL(page.url()).pathname))
    await inDark(page, () => expectNoAccessibilityViolations(page, "colors"));
}

const DIALOG = "[role=dialog], [role=alertdialog]";

/**
 * Expects the open dialog to have no accessibility violations in either theme, and to be inside the window of
 * a laptop and of a phone. Restores the theme and the size.
 */
async function expectAccessibleDialog(page: Page): Promise<void> {
  await expectNoAccessibilityViolations(page);
  await inDark(page, () => expectNoAccessibilityViolations(page, "colors"));
  const size = page.viewportSize();
  for (const [variant, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: 760 });
    const outside = () =>
      page.locator(DIALOG).evaluateAll((dialogs) =>
        dialogs.flatMap((dialog) => {
          const { left, right, top, bottom } = dialog.getBoundingClientRect();
          const isInside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
          return isInside && dialog.scrollWidth <= dialog.clientWidth ? [] : [{ left, right, top, bottom }];
        }),
      );
    await expect.poll(outside, { message: variant }).toEqual([]);
  }
  if (size) await page.setViewportSize(size);
}

/** More than the time in which a message of the console fades out. */
const fadeOutMs = 500;

/**
 * Expects no accessibility violations. Message documents in frames are excluded: their senders are
 * responsible for them. `colors` checks only the color rules, for a page that was already checked in the
 * other theme. If a dialog is open, only its elements are checked: nothing else can be reached.
 */
export async function expectNoAccessibilityViolations(
  page: Page,
  of: "everything" | "colors" = "everything",
): Promise<void> {
  // During a fade-in the contrast is lower.
  await awaitAnimations(page);
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const hasDialog = (await page.locator(DIALOG).count()) > 0;
  const context = hasDialog ? { include: [DIALOG], exclude: ["iframe"] } : { exclude: ["iframe"] };
  const colors = { type: "rule" as const, values: ["color-contrast", "link-in-text-block"] };
  const options = {
    iframes: false,
    preload: false,
    resultTypes: ["violations" as const],
    ...(of === "colors" ? { runOnly: colors } : {}),
  };
  const find = async () => {
    const { violations } = await page.evaluate(
      (given) => (window as unknown as { axe: typeof axe }).axe.run(given.context, given.options),
      { context, options },
    );
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  };
  if ((await find()).length === 0) return;
  // A message that fades out has a lower contrast, for longer in a browser that draws few frames.
  await wait(fadeOutMs);
  await awaitAnimations(page);
  expect(await find()).toEqual([]);
}

/** The wait has an end: the promise of an animation that restarts never settles. */
const awaitAnimations = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const animations = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
      .map(({ finished }) => finished);
    const limit = new Promise((resolve) => setTimeout(resolve, 5_000));
    return Promise.race([Promise.allSettled(animations), limit]).then(() => {});
  });

/** Expects every time on the page to show its exact value on hover, in the user's time zone. */
export async function expectExactTimes(page: Page): Promise<void> {
  const isExact = await page
    .locator("main time")
    .evaluateAll((times) =>
      times.map(
        (time) =>
          time instanceof HTMLTimeElement &&
          time.title ===
            new Date(time.dateTime).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" }),
      ),
    );
  expect(isExact).toContain(true);
  expect(isExact).not.toContain(false);
}
