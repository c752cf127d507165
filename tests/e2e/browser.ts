import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { expect } from "vitest";
import { projectRoot } from "../support/processes";
import { startElsewhere } from "./elsewhere";

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
const artifacts = path.join(projectRoot, "tests/.artifacts");

/** Debian's Chromium. Throws with the command that installs it where it is missing: such a run proves nothing. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(program))
    throw new Error(
      `There is no Chromium at ${program}. Install it (apt-get install chromium) or name it in CHROMIUM.`,
    );
  // Documents of a message get no process of their own: what holds them here is what we say of them, and it is cheaper.
  return chromium.launch({
    executablePath: program,
    args: ["--no-sandbox", "--disable-site-isolation-trials"],
  });
}

/** What a browser did that nobody should have asked it to do. */
export type Watched = {
  context: BrowserContext;
  /** Text of every dialog that a page opened. */
  dialogs: string[];
  /** Addresses on other hosts that something asked for. Nobody answers there. */
  foreign: string[];
  /** Errors on the browser's console, with where they came from, and exceptions of pages. */
  errors: { text: string; at: string }[];
};

/** A browser profile of its own, for which there is this machine, and elsewhere nothing but a record of who was asked. */
export async function openProfile(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const elsewhere = await startElsewhere();
  const context = await browser.newContext({
    viewport: { width: 1360, height: 900 },
    proxy: { server: elsewhere.url, bypass: "localhost" },
    ignoreHTTPSErrors: true,
    ...options,
  });
  context.on("close", () => elsewhere.stop());
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
  });
  return watched;
}

export async function signIn(page: Page, url: string, email: string, password: string): Promise<void> {
  await page.goto(`${url}/login`);
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(/\/console(?:[/?]|$)/);
}

/** Every look at a page costs seconds, and nobody looks at the pictures of most runs: `E2E_PICTURES=1` has them taken. */
const wantsPictures = process.env.E2E_PICTURES === "1";

/**
 * Shows the page dark, and as wide as a small phone, where nobody may meet a barrier or scroll sideways. Leaves the page as
 * it was.
 */
export async function expectGoodLooks(page: Page, name: string): Promise<void> {
  if (wantsPictures) mkdirSync(artifacts, { recursive: true });
  const size = page.viewportSize();
  const take = async (look: string) => {
    if (wantsPictures)
      await page.screenshot({ path: path.join(artifacts, `${name}-${look}.png`), fullPage: true });
  };
  await take("light");
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(() => page.locator("html.dark").count()).toBe(1);
  await expectNoBarriers(page, "colours");
  await take("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => page.locator("html.dark").count()).toBe(0);
  await page.setViewportSize({ width: 380, height: 760 });
  // A drawing measures its new place a moment later.
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380);
  await take("phone");
  if (size) await page.setViewportSize(size);
}

/** What a suite passes through on its way, for people to look at, where pictures are wanted. One suite goes over all pages. */
export async function takePictures(page: Page, name: string): Promise<void> {
  if (wantsPictures) await expectGoodLooks(page, name);
}

/**
 * Nothing that a person could not use with the help that they need; the message's own document is its sender's. Of a page
 * that was looked at, and is the same in other colours, only those have to be.
 */
export async function expectNoBarriers(
  page: Page,
  of: "everything" | "colours" = "everything",
): Promise<void> {
  // What is half faded in has half its contrast.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished),
    ).then(() => {}),
  );
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (runOnly) =>
      (window as unknown as { axe: typeof axe }).axe.run(
        { exclude: ["iframe"] },
        { iframes: false, preload: false, resultTypes: ["violations"], ...runOnly },
      ),
    of === "colours"
      ? { runOnly: { type: "rule" as const, values: ["color-contrast", "link-in-text-block"] } }
      : {},
  );
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  expect(found).toEqual([]);
}

/** Every time of the page says on hover which moment it is, in the reader's own zone. */
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
