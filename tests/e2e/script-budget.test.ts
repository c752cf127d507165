import { readdirSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes";
import { openBrowser, signIn } from "./browser";
import { type Filled, fillTeam, PAGES } from "./pages";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

/** Script of a page until it can be used, in kB of 1000 bytes as it comes over the line. */
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

/** Bytes of all scripts that a page fetches in a browser which has none of them, until it rests. */
async function weigh(address: string, heading: string | RegExp): Promise<number> {
  const context = await browser.newContext({ storageState: session });
  try {
    const page = await context.newPage();
    const sizes: Promise<number>[] = [];
    page.on("requestfinished", (request) => {
      if (request.resourceType() === "script")
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(`${posthorn.url}${address}`);
    await page.getByRole("heading", { name: heading }).first().waitFor();
    await page.waitForLoadState("networkidle");
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1000;
  } finally {
    await context.close();
  }
}

describe("the script that a page needs until it can be used", () => {
  for (const { name, pathOf, heading, scriptKb = everyPageKb } of PAGES)
    test(`of ${name} is at most ${scriptKb} kB`, async () => {
      const weight = await weigh(pathOf(filled), heading);
      expect(weight).toBeGreaterThan(10);
      expect(weight).toBeLessThanOrEqual(scriptKb);
    });

  test(`of signing in is at most ${everyPageKb} kB`, async () => {
    const before = session;
    session = { cookies: [], origins: [] };
    expect(await weigh("/login", /./)).toBeLessThanOrEqual(everyPageKb);
    session = before;
  });

  test(`of the API reference is at most ${referenceKb} kB`, async () => {
    expect(await weigh("/docs", /^Posthorn/)).toBeLessThanOrEqual(referenceKb);
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
