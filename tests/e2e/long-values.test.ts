import { afterAll, expect, test } from "vitest";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openSignedIn } from "./backstamp";
import { takePicture } from "./browser";
import { fillWithLongValues, REPLY } from "./long-values";
import { readOverflows } from "./page-layout";
import { PAGES } from "./pages";

/** Phones, a tablet, the narrowest table, and a laptop. */
const WIDTHS_PX = [320, 380, 820, 1024, 1280] as const;
const heightPx = 900;
/** A shortened text shows at least this much of itself. */
const shortMinPx = 100;

const smtp = await startSmtpTestServer({ rcpt: REPLY });
afterAll(() => smtp.close());
const SMTP_URL = `smtp://127.0.0.1:${smtp.port}`;
const { backstamp, page } = await openSignedIn({ SMTP_URL }, { hasScrollbars: true });
const data = await fillWithLongValues(backstamp, page);

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
