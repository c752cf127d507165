import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { frameDocument } from "../../app/console/templates/[id]/preview/frame-document";
import { openSignedIn } from "./backstamp";
import { openProfile } from "./browser";
import { expectAsText, expectInert, interactWithAll, settle } from "./hostile-content";
import { inParts, numberIn, ONE_OF_EACH, PAYLOADS, type Payload } from "./payloads";

/*
 * Every payload in each document that renders HTML: the body of an email and the preview of a template. As
 * text, all are equal to React, so they are read once, in the list of emails.
 */

let team: string;
/** Email ids by payload number. */
const ids = new Map<number, string>();

const line = ({ text }: Payload) => text.replace(/[\t\r\n\u2028\u2029]/g, " ");
/** Some payloads as values of a variable. All of them are tried in the document. */
const AS_VALUES = ONE_OF_EACH.slice(0, 3);

const { backstamp, browser, profile, page } = await openSignedIn({ SMTP_URL: "capture:" });
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
const token = await backstamp.createKey();
const template = { name: "Raw", subject: "{{BODY}}", html: "<p>Before</p>{{{BODY}}}" };
const { id } = await backstamp.api("POST", "/templates", template, token);
/** The page of a template. */
const editor = `${backstamp.url}/console/templates/${id}`;
await page.goto(`${backstamp.url}/console/emails/${ids.get(PAYLOADS[0]?.number ?? 0)}`);
const src = await page.locator("iframe").getAttribute("src");
beforeAll(async () => {
  team = new URL(src ?? "", backstamp.url).searchParams.get("team") ?? "";
});

const bodyOf = ({ number }: Payload) => `/console/emails/${ids.get(number)}/body?team=${team}`;

const slowPage = { timeout: 60_000 };
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
      const classesNow = () => {
        const fired = firedNow();
        const working = PAYLOADS.filter(({ number }) => fired.has(number));
        return [...new Set(working.map((each) => each.class))].sort();
      };
      await expect.poll(() => firedNow().size, slowPage).toBeGreaterThan(PAYLOADS.length / 2);
      await expect.poll(classesNow, slowPage).toEqual(ONE_OF_EACH.map((each) => each.class).sort());
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
              .poll(async () => (await page.request.get(backstamp.url + bodyOf(payload))).text(), slowPage)
              .toContain(payload.text),
          ),
        );
      const address = `${backstamp.url}/console/nothing-here`;
      for (const part of inParts(PAYLOADS, 45)) {
        const host = await profile.context.newPage();
        const loaded = new Set<string>();
        host.on("response", (response) => {
          if (response.ok()) loaded.add(response.url());
        });
        await host.goto(address, slowPage);
        await openFrames(host, part.map(bodyOf), 60_000);
        const frames = host.frames().slice(1);
        expect(part.filter((payload) => !loaded.has(backstamp.url + bodyOf(payload)))).toEqual([]);
        await Promise.all(frames.map(interactWithAll));
        await settle(host);
        expect(host.url()).toBe(address);
        expectInert(profile, 2);
        await host.close();
      }
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
      await expect.poll(newest, slowPage).not.toBe(first);
    }
    expect([...missing]).toEqual([]);
    await settle(page);
    expectInert(profile, 1);
  },
  longMs,
);

test("every payload is inert in the preview document, inside the editor page", async () => {
  const tryFrames = async (part: readonly Payload[]) => {
    const host = await profile.context.newPage();
    await host.goto(editor);
    await host.getByRole("heading", { name: "Raw" }).waitFor(slowPage);
    await host.evaluate(
      (sources) =>
        Promise.all(
          sources.map(
            (source) =>
              new Promise<void>((resolve) => {
                const frame = document.createElement("iframe");
                frame.setAttribute("sandbox", "");
                frame.srcdoc = source;
                frame.onload = () => resolve();
                // A document that waits for a blocked resource never fires `load`; 5 seconds are enough for
                // its payload.
                setTimeout(resolve, 5_000);
                document.body.append(frame);
              }),
          ),
        ).then(() => {}),
      part.map(({ text }) => frameDocument(text)),
    );
    await Promise.all(host.frames().slice(1).map(interactWithAll));
    await settle(host);
    expect(host.url()).toBe(editor);
    return host;
  };
  const hosts = await Promise.all(inParts(PAYLOADS, 70).map(tryFrames));
  expectInert(profile, hosts.length + 1);
  await Promise.all(hosts.map((host) => host.close()));
});

test("a payload as a value is text in the subject, inert as raw HTML, and marked as raw", async () => {
  await page.goto(editor);
  await page.getByRole("region", { name: "Raw HTML" }).getByText("{{{BODY}}}").waitFor(slowPage);
  const sample = page.getByLabel("Sample of BODY");
  const subject = page.getByRole("region", { name: "Preview" }).locator("p").first();
  for (const payload of AS_VALUES) {
    const value = line(payload);
    await sample.fill(value);
    await expect
      .poll(() => page.locator("iframe").first().getAttribute("srcdoc"), slowPage)
      .toContain(`<p>Before</p>${value}`);
    await expect.poll(() => subject.textContent(), slowPage).toContain(value.trim());
    const frame = await (await page.waitForSelector("iframe")).contentFrame();
    if (frame) await interactWithAll(frame);
    expect(page.url()).toBe(editor);
  }
  await settle(page);
  expectInert(profile, 1);
});

test("the images of a template load only on request, in a separate document", async () => {
  await page.goto(editor);
  await page.getByLabel("Sample of BODY").fill("x");
  await page.getByRole("textbox", { name: "HTML" }).click(slowPage);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(
    '<p>Shown</p><img src="https://evil.example/1.png"><script>alert(1)</script>',
  );
  await page.frameLocator("iframe").getByText("Shown").waitFor(slowPage);
  await page.keyboard.press("ControlOrMeta+s");
  await page
    .getByRole("status")
    .getByText(/^Saved/)
    .waitFor(slowPage);
  expectInert(profile, 1);
  await page.getByRole("button", { name: "Load images" }).click();
  await expect.poll(() => profile.foreign, slowPage).toEqual(["https://evil.example/1.png"]);
  expect(profile.dialogs).toEqual([]);
  expect(await page.locator("iframe").first().getAttribute("sandbox")).toBe("");
});
