import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { openBrowser, openProfile, signIn, type Watched } from "./browser";
import { expectAsText, expectInert, interactWithAll, markupOf, settle } from "./hostile-content";
import { inParts, numberIn, ONE_OF_EACH, PAYLOADS, type Payload } from "./payloads";

let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;
let team: string;
/** Email ids by payload number. */
const ids = new Map<number, string>();

const line = ({ text }: Payload) => text.replace(/[\t\n\u2028\u2029]/g, " ");

beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
  for (const part of inParts(PAYLOADS, 90)) {
    const emails = part.map((payload) => ({
      from: "Hostile <hello@backstamp.test>",
      to: ["delivered@backstamp.test"],
      subject: line(payload),
      html: payload.text,
      text: payload.text,
    }));
    const { data } = await backstamp.api("POST", "/emails/batch", emails);
    part.forEach(({ number }, place) => {
      ids.set(number, data[place].id);
    });
  }
  await page.goto(`${backstamp.url}/console/emails/${ids.get(PAYLOADS[0]?.number ?? 0)}`);
  const src = await page.locator("iframe").getAttribute("src");
  team = new URL(src ?? "", backstamp.url).searchParams.get("team") ?? "";
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

const bodyOf = ({ number }: Payload) => `/console/emails/${ids.get(number)}/body?team=${team}`;

const patience = { timeout: 60_000 };
/** Each test opens many pages: fast on an idle machine, slow on a busy one. */
const longMs = 400_000;

/** Opens documents side by side in frames, and waits until each has loaded or timed out. */
const openFrames = (host: Page, sources: string[], waitMs: number) =>
  host.evaluate(
    ({ all, waitMs }) =>
      Promise.all(
        all.map(
          (src) =>
            new Promise<void>((resolve) => {
              const frame = document.createElement("iframe");
              frame.src = src;
              frame.onload = () => resolve();
              // A document that waits for another host may never finish loading.
              setTimeout(resolve, waitMs);
              document.body.append(frame);
            }),
        ),
      ).then(() => {}),
    { all: sources, waitMs },
  );

test("there are at least 150 different payloads", () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(150);
  const plain = PAYLOADS.map(({ number, text }) => text.replaceAll(String(number), "1"));
  expect(new Set(plain).size).toBe(PAYLOADS.length);
});

describe("without protection", () => {
  let server: Server;
  afterAll(() => server?.close());

  test(
    "most payloads work, and at least one of every class",
    async () => {
      server = createServer(({ url }, response) => {
        const payload = PAYLOADS.find(({ number }) => number === numberIn(url ?? ""));
        response.setHeader("content-type", "text/html; charset=utf-8");
        response.end(payload ? `<!doctype html><body>${payload.text}` : "<!doctype html><title>Host</title>");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const unprotected = await openProfile(browser);
      const firedNow = () =>
        new Set([...unprotected.dialogs, ...unprotected.foreign].map((text) => numberIn(text) ?? 0));
      const hosts = await Promise.all(
        inParts(PAYLOADS, 70).map(async (part) => {
          const host = await unprotected.context.newPage();
          await host.goto(`${origin}/host`);
          await openFrames(
            host,
            part.map(({ number }) => `/${number}`),
            5_000,
          );
          return host;
        }),
      );
      for (const host of hosts) await Promise.all(host.frames().slice(1).map(interactWithAll));
      await expect.poll(() => firedNow().size, { timeout: 30_000 }).toBeGreaterThan(PAYLOADS.length / 2);
      const fired = firedNow();
      const classes = new Set(PAYLOADS.filter(({ number }) => fired.has(number)).map((each) => each.class));
      expect([...classes].sort()).toEqual(ONE_OF_EACH.map((each) => each.class).sort());
      await unprotected.context.close();
    },
    longMs,
  );
});

describe("as the HTML of an email", () => {
  test(
    "each is served unchanged, but cannot run, navigate or send requests, even without the sandbox of the frame",
    async () => {
      for (const part of inParts(PAYLOADS, 10))
        await Promise.all(
          part.map((payload) =>
            expect
              .poll(async () => (await page.request.get(backstamp.url + bodyOf(payload))).text(), patience)
              .toContain(payload.text),
          ),
        );
      const address = `${backstamp.url}/console/nothing-here`;
      const documents: string[] = [];
      for (const part of inParts(PAYLOADS, 45)) {
        const host = await profile.context.newPage();
        await host.goto(address, patience);
        await openFrames(host, part.map(bodyOf), 60_000);
        const frames = host.frames().slice(1);
        documents.push(...(await Promise.all(frames.map(markupOf))));
        await Promise.all(frames.map(interactWithAll));
        await settle(host);
        expect(host.url()).toBe(address);
        expectInert(profile, 2);
        await host.close();
      }
      // Each payload is really present: its document contains its number.
      const there = PAYLOADS.filter(({ number }) => documents.some((text) => text.includes(String(number))));
      expect(there.length).toBeGreaterThan(PAYLOADS.length * 0.9);
    },
    longMs,
  );

  test(
    "one payload of each class is inert in the frame of the email page, whatever is clicked",
    async () => {
      const address = `${backstamp.url}/console/emails/${ids.get(ONE_OF_EACH[0]?.number ?? 0)}`;
      await page.goto(address);
      const element = await page.waitForSelector("iframe");
      const frame = await element.contentFrame();
      if (!frame) throw new Error("the preview has no document");
      for (const payload of ONE_OF_EACH) {
        const src = bodyOf(payload);
        const arrived = page.waitForResponse((response) => response.url() === backstamp.url + src, patience);
        await element.evaluate((iframe, src) => iframe.setAttribute("src", src), src);
        expect(await (await arrived).text()).toContain(payload.text);
        await interactWithAll(frame);
        expect(page.url()).toBe(address);
      }
      await expectAsText(page, [line(ONE_OF_EACH[0] as Payload)]);
      await settle(page);
      expectInert(profile, 1);
    },
    longMs,
  );
});

test(
  "every payload as a subject is plain text in the list",
  async () => {
    const missing = new Set(PAYLOADS.map(line));
    await page.goto(`${backstamp.url}/console/emails`);
    for (let pages = 0; missing.size > 0 && pages < 20; pages++) {
      const list = page.getByRole("list", { name: "Emails" });
      await list.getByRole("listitem").first().waitFor();
      const newest = () => list.getByRole("listitem").first().getAttribute("data-id");
      const first = await newest();
      await expectAsText(page, []);
      for (const text of await list.locator("span").allTextContents()) missing.delete(text);
      const older = page.getByRole("button", { name: "Older" });
      if (missing.size === 0 || (await older.isDisabled())) break;
      await older.click();
      await expect.poll(newest, patience).not.toBe(first);
    }
    expect([...missing]).toEqual([]);
    await settle(page);
    expectInert(profile, 1);
  },
  longMs,
);
