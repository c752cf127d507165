import type { Browser, Frame, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser, openProfile, signIn, takePictures, type Watched } from "./browser";
import { HOSTILE_HTML, HOSTILE_SUBJECT, HOSTILE_TEXT } from "./hostile-mail";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
let id: string;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, posthorn.url, ADMIN.email, ADMIN.password);
  id = await posthorn.send({
    to: "delivered+hostile@posthorn.test",
    subject: HOSTILE_SUBJECT,
    html: HOSTILE_HTML,
    text: HOSTILE_HTML,
    headers: { "X-Hostile": '<img src=x onerror=alert("header")>' },
    tags: [{ name: "kind", value: "hostile" }],
  });
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

const bodyUrl = (more = "", slash = "") => `${posthorn.url}/console/emails/${id}/body${slash}?${more}`;

async function openMail(): Promise<Frame> {
  await page.goto(`${posthorn.url}/console/emails/${id}`);
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  if (!frame) throw new Error("the preview has no document");
  await frame.getByText(HOSTILE_TEXT).waitFor();
  return frame;
}

/** Gives the message time to do what it must not. */
async function settle(): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 500))));
}

function expectHarmless(): void {
  expect(profile.dialogs).toEqual([]);
  expect(profile.foreign).toEqual([]);
  // A message that tries is refused aloud, by the browser, inside its own document; nothing else may complain.
  const ours = profile.errors.filter(({ at, text }) => !at.includes("/body") && !REFUSAL.test(text));
  expect(ours).toEqual([]);
}
const REFUSAL = /Content Security Policy|Blocked script execution|is sandboxed|Blocked form submission/;

describe("a hostile message", () => {
  test("is alive: where nothing holds it, it does what it says", async () => {
    const unguarded = await openProfile(browser);
    const control = await unguarded.context.newPage();
    await control.setContent(HOSTILE_HTML, { waitUntil: "domcontentloaded" }).catch(() => {});
    await expect.poll(() => unguarded.dialogs.length, { timeout: 30_000 }).toBeGreaterThan(0);
    await expect.poll(() => unguarded.foreign.length, { timeout: 30_000 }).toBeGreaterThan(0);
    await unguarded.context.close();
  });

  test("is shown, and can neither run, nor leave, nor call home", async () => {
    await openMail();
    await settle();
    expectHarmless();
    expect(page.url()).toBe(`${posthorn.url}/console/emails/${id}`);
    expect(profile.context.pages()).toHaveLength(1);
    await takePictures(page, "email-hostile");
  });

  test("cannot be made to by a click", async () => {
    for (const target of [
      "#script-link",
      "#data-link",
      "#top-link",
      "#blank-link",
      "#plain-link",
      "#submit",
    ]) {
      const frame = await openMail();
      await frame.locator(target).click({ force: true });
      await settle();
      expect(page.url()).toBe(`${posthorn.url}/console/emails/${id}`);
      expect(profile.context.pages()).toHaveLength(1);
    }
    expectHarmless();
  });

  test("is only text in its subject, its headers and its text part", async () => {
    await openMail();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(HOSTILE_SUBJECT);
    await page.getByRole("tab", { name: "Text" }).click();
    await page.getByText('alert("script")').first().waitFor();
    await page.getByRole("tab", { name: "Headers" }).click();
    await page.getByText('<img src=x onerror=alert("header")>').waitFor();
    await page.goto(`${posthorn.url}/console/emails`);
    await page.getByRole("link", { name: /Invoice/ }).waitFor();
    await settle();
    expectHarmless();
  });

  test("is nowhere in the page around it", async () => {
    const response = await page.goto(`${posthorn.url}/console/emails/${id}`);
    const source = (await response?.text()) ?? "";
    // The text part is what the sender gave as text; the HTML part exists only behind its own address.
    const html = await (await page.request.get(bodyUrl(await teamOf()))).text();
    expect(html).toContain('<p id="words">');
    expect(source).not.toContain('<p id="words">');
  });

  test.each(["", "/"])(
    "opened outside its frame, with %j at its address's end, has no more power",
    async (slash) => {
      await page.goto(bodyUrl(await teamOf(), slash));
      await page.getByText(HOSTILE_TEXT).waitFor();
      await page.waitForLoadState("networkidle");
      expectHarmless();
      expect(new URL(page.url()).pathname).toBe(`/console/emails/${id}/body${slash}`);
      // A document without an origin of its own: what it holds could read nothing of the console, whatever it is.
      expect(await page.evaluate(() => window.origin)).toBe("null");
    },
  );

  test("gets its pictures only when somebody asks, over https, and still nothing else", async () => {
    await openMail();
    expectHarmless();
    await page.getByRole("button", { name: "Load images" }).click();
    await expect
      .poll(() => profile.foreign.includes("https://evil.example/pixel.png"), { timeout: 30_000 })
      .toBe(true);
    await settle();
    const kinds = profile.foreign.splice(0).map((url) => new URL(url).pathname);
    for (const kind of kinds) expect(kind).toMatch(/\.png$/);
    expect(profile.dialogs).toEqual([]);
  });
});

describe("a message's own address", () => {
  test("is closed to whoever is not signed in, in that team, or to a foreign page", async () => {
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
  await page.goto(`${posthorn.url}/console/emails/${id}`);
  const src = await page.locator("iframe").getAttribute("src");
  return new URL(src ?? "", posthorn.url).searchParams.toString();
}
