import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SmtpTestServer, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { openBrowser, openProfile, signIn, takePicture } from "./browser";
import { fillWithLongValues, REPLY } from "./long-values";
import { readOverflows } from "./page-layout";
import { PAGES, type TestData } from "./pages";

/** Phones, a tablet, the narrowest table, and a laptop. */
const WIDTHS_PX = [320, 380, 820, 1024, 1280] as const;
const heightPx = 900;
/** A shortened text shows at least this much of itself. */
const shortMinPx = 100;

let smtp: SmtpTestServer;
let backstamp: Backstamp;
let browser: Browser;
let page: Page;
let data: TestData;

beforeAll(async () => {
  smtp = await startSmtpTestServer({ rcpt: REPLY });
  browser = await openBrowser({ hasScrollbars: true });
  backstamp = await startBackstamp({ SMTP_URL: `smtp://127.0.0.1:${smtp.port}` });
  const { context } = await openProfile(browser);
  page = await context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
  data = await fillWithLongValues(backstamp, page);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
  await smtp?.close();
});

async function open(path: string): Promise<void> {
  await page.goto(`${backstamp.url}${path}`);
  await page.waitForLoadState("networkidle");
}

for (const { name, pathOf } of PAGES)
  test(`${name} keeps long values within the window and their cards, and shortens no address`, async () => {
    await open(pathOf(data));
    for (const width of WIDTHS_PX) {
      await page.setViewportSize({ width, height: heightPx });
      // Charts adapt to the new width with a delay.
      await expect
        .poll(() => page.evaluate(readOverflows, shortMinPx), { message: `${width} px`, timeout: 5_000 })
        .toEqual({ faults: [], shortened: expect.not.arrayContaining([expect.stringMatching(/@|550 /)]) });
      await takePicture(page, `long-${name}-${width}`);
    }
  });

test("a long subject leaves the actions beside it", async () => {
  await open(`/console/emails/${data.email}`);
  for (const width of [820, 1024, 1280]) {
    await page.setViewportSize({ width, height: heightPx });
    const subject = await page.locator("main h1").boundingBox();
    if (!subject) throw new Error("The subject has no box.");
    for (const name of ["Retry…", "More actions"]) {
      const button = await page.getByRole("button", { name }).boundingBox();
      expect(button?.y).toBeLessThan(subject.y + subject.height / 2);
    }
  }
});
