import { readdirSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes";
import { openBrowser, signIn } from "./browser";
import { type Filled, fillTeam, PAGES } from "./pages";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

/** In KB of 1,024 bytes as they come over the line. */
const everyPageKb = 200;
/** The reference is a library's whole reader of OpenAPI documents, loaded after the page says that it comes. */
const referenceKb = 700;

let posthorn: Posthorn;
let browser: Browser;
let filled: Filled;
let session: Awaited<ReturnType<BrowserContext["storageState"]>>;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  filled = await fillTeam(posthorn);
  const context = await browser.newContext();
  await signIn(await context.newPage(), posthorn.url, ADMIN.email, ADMIN.password);
  session = await context.storageState();
  await context.close();
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

/**
 * What a page fetches of script, in KB, in a browser which has none of it: what its document names, with which it wakes up
 * and can be used; and all until it rests, which is more where a part comes by itself afterwards.
 */
async function weigh(
  address: string,
  heading: string | RegExp,
): Promise<{ untilUsable: number; untilRest: number }> {
  const context = await browser.newContext({ storageState: session });
  try {
    const page = await context.newPage();
    const scripts: Promise<{ name: string; size: number }>[] = [];
    page.on("requestfinished", (request) => {
      if (request.resourceType() !== "script") return;
      const name = path.posix.basename(new URL(request.url()).pathname);
      scripts.push(request.sizes().then(({ responseBodySize }) => ({ name, size: responseBodySize / 1024 })));
    });
    const response = await page.goto(`${posthorn.url}${address}`);
    const document = (await response?.text()) ?? "";
    await page.getByRole("heading", { name: heading }).first().waitFor();
    await page.waitForLoadState("networkidle");
    const all = await Promise.all(scripts);
    const sum = (some: typeof all) => some.reduce((total, { size }) => total + size, 0);
    return { untilUsable: sum(all.filter(({ name }) => document.includes(name))), untilRest: sum(all) };
  } finally {
    await context.close();
  }
}

describe("the script of a page", () => {
  for (const { name, pathOf, heading, scriptKb = everyPageKb } of PAGES)
    test(`${name} is at most ${everyPageKb} KB until it can be used, and ${scriptKb} KB until it rests`, async () => {
      const { untilUsable, untilRest } = await weigh(pathOf(filled), heading);
      expect(untilUsable).toBeGreaterThan(10);
      expect(untilUsable).toBeLessThanOrEqual(everyPageKb);
      expect(untilRest).toBeLessThanOrEqual(scriptKb);
    });

  test(`of signing in is at most ${everyPageKb} KB`, async () => {
    const before = session;
    session = { cookies: [], origins: [] };
    expect((await weigh("/login", /./)).untilRest).toBeLessThanOrEqual(everyPageKb);
    session = before;
  });

  test(`of the API reference is at most ${referenceKb} KB`, async () => {
    expect((await weigh("/docs", /^Posthorn/)).untilRest).toBeLessThanOrEqual(referenceKb);
  });
});

test("no page of the console is missing from the list", () => {
  const found = readdirSync(path.join(projectRoot, "app/console"), { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === "page.tsx")
    .map((file) => path.posix.join("console", path.dirname(file)));
  // These two only lead on.
  const leads = ["console/settings"];
  expect(found.filter((file) => !leads.includes(file)).sort()).toEqual(PAGES.map(({ file }) => file).sort());
});
