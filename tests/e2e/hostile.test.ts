import type { Frame } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { openSignedIn } from "./backstamp";
import { takePictures } from "./browser";
import { settle } from "./hostile-content";
import { HOSTILE_HTML, HOSTILE_SUBJECT, HOSTILE_TEXT } from "./hostile-mail";

let id: string;

const { backstamp, browser, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
beforeAll(async () => {
  id = await backstamp.send({
    to: "delivered+hostile@backstamp.test",
    subject: HOSTILE_SUBJECT,
    html: HOSTILE_HTML,
    text: HOSTILE_HTML,
  });
});

const bodyUrl = (more = "", slash = "") => `${backstamp.url}/console/emails/${id}/body${slash}?${more}`;

async function openEmail(): Promise<Frame> {
  await page.goto(`${backstamp.url}/console/emails/${id}`);
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  if (!frame) throw new Error("the preview has no document");
  await frame.getByText(HOSTILE_TEXT).waitFor();
  return frame;
}

function expectNoEffect(): void {
  expect(profile.dialogs).toEqual([]);
  expect(profile.foreign).toEqual([]);
  // The browser logs blocked attempts inside the document of the message. No other errors are allowed.
  const ours = profile.errors.filter(({ at, text }) => !at.includes("/body") && !REFUSAL.test(text));
  expect(ours).toEqual([]);
}
const REFUSAL = /Content Security Policy|Blocked script execution|is sandboxed|Blocked form submission/;

describe("a hostile message", () => {
  test("is displayed, but cannot run scripts, navigate or send requests", async () => {
    await openEmail();
    await settle(page);
    expectNoEffect();
    expect(page.url()).toBe(`${backstamp.url}/console/emails/${id}`);
    expect(profile.context.pages()).toHaveLength(1);
    await takePictures(page, "email-hostile");
  });

  test.each(["", "/"])(
    "has no additional permissions outside its frame, with %j at the end of the URL",
    async (slash) => {
      await page.goto(bodyUrl(await teamOf(), slash));
      await page.getByText(HOSTILE_TEXT).waitFor();
      await page.waitForLoadState("networkidle");
      expectNoEffect();
      expect(new URL(page.url()).pathname).toBe(`/console/emails/${id}/body${slash}`);
      // An opaque origin: the document cannot read any data of the console.
      expect(await page.evaluate(() => window.origin)).toBe("null");
    },
  );

  test("loads images only on request and over https, and nothing else", async () => {
    await openEmail();
    expectNoEffect();
    const entries = await page.evaluate(() => history.length);
    await page.getByRole("button", { name: "Load images" }).click();
    await expect
      .poll(() => profile.foreign.includes("https://evil.example/pixel.png"), { timeout: 30_000 })
      .toBe(true);
    await settle(page);
    const kinds = profile.foreign.splice(0).map((url) => new URL(url).pathname);
    for (const kind of kinds) expect(kind).toMatch(/\.png$/);
    expect(await page.evaluate(() => history.length)).toBe(entries);
    expect(profile.dialogs).toEqual([]);
  });
});

describe("the URL of a message body", () => {
  test("requires a session and the team, and cannot be framed by other sites", async () => {
    const team = await teamOf();
    const stranger = await browser.newContext();
    expect((await stranger.request.get(bodyUrl(team))).status()).toBe(401);
    await stranger.close();
    expect((await page.request.get(bodyUrl())).status()).toBe(404);
    expect((await page.request.get(bodyUrl("team=01900000-0000-7000-8000-000000000000"))).status()).toBe(404);
    const policy = (await page.request.get(bodyUrl(team))).headers()["content-security-policy"];
    expect(policy).toMatch(/^sandbox; default-src 'none';/);
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).not.toContain("https:");
  });
});

async function teamOf(): Promise<string> {
  await page.goto(`${backstamp.url}/console/emails/${id}`);
  const src = await page.locator("iframe").getAttribute("src");
  return new URL(src ?? "", backstamp.url).searchParams.toString();
}
