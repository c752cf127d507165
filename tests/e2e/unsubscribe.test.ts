import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { startRest } from "../support/rest";
import { openWorld } from "../support/world";
import {
  expectNoAccessibilityViolations,
  expectNoErrors,
  openBrowser,
  openProfile,
  takePicture,
} from "./browser";

// The page is one of the REST API, so the suite needs no build.
const world = await openWorld();
const server = await startRest(world.deps);
const browser = await openBrowser();
const profile = await openProfile(browser);
const withoutScripts = await openProfile(browser, { javaScriptEnabled: false });
afterAll(async () => {
  for (const watched of [profile, withoutScripts]) expectNoErrors(watched);
  await browser.close();
  await server.close();
});

/** Opens the link of an email with this list. */
async function open(address: string, list: string | null, { context } = profile): Promise<Page> {
  const { id } = await world.send({ to: [address] });
  const link = world.deps.recipientTokens.unsubscribeLink({ teamId: world.id, emailId: id, address, list });
  const page = await context.newPage();
  await page.goto(server.baseUrl + new URL(link).pathname);
  return page;
}

/** Expects that everybody can read and use the page, in both themes and on a phone. */
async function expectUsable(page: Page, name: string): Promise<void> {
  for (const [colorScheme, width] of [
    ["light", 1280],
    ["dark", 380],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 760 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await expectNoAccessibilityViolations(page);
    await takePicture(page, `${name}-${colorScheme}`);
  }
}

const click = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const listsOf = async (address: string) => {
  const [entry] = await world.hot<{ lists: string[] | null }[]>`
    select lists from suppressions where address = ${address}`;
  return entry ? entry.lists : "not suppressed";
};

test("a recipient leaves one list, then all, and subscribes again", async () => {
  const address = "reader@example.net";
  const page = await open(address, "Product news");
  await page.getByRole("heading", { name: "Unsubscribe", exact: true }).waitFor();
  await page.getByText("r…@example.net").waitFor();
  await expectUsable(page, "unsubscribe");
  expect(await listsOf(address)).toBe("not suppressed");
  await click(page, "Unsubscribe from Product news");
  await page.getByRole("heading", { name: "Unsubscribed" }).waitFor();
  expect(await listsOf(address)).toEqual(["Product news"]);
  await expectUsable(page, "unsubscribed-list");
  await click(page, "Unsubscribe from all lists of example.org");
  await page.getByText("Other email, such as receipts").waitFor();
  expect(await listsOf(address)).toBeNull();
  await expectUsable(page, "unsubscribed-all");
  await click(page, "Subscribe again");
  await page.getByRole("button", { name: "Unsubscribe from Product news" }).waitFor();
  expect(await listsOf(address)).toBe("not suppressed");
});

test("an email without a list offers one button, which works without scripts", async () => {
  const page = await open("plain@example.net", null, withoutScripts);
  expect(await page.getByRole("button").allTextContents()).toEqual(["Unsubscribe"]);
  await click(page, "Unsubscribe");
  await page.getByRole("button", { name: "Subscribe again" }).waitFor();
  expect(await listsOf("plain@example.net")).toBeNull();
});
