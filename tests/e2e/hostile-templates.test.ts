import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameDocument } from "../../app/console/templates/[id]/preview/frame-document";
import { ADMIN, type Backstamp, startBackstamp } from "./backstamp";
import { openBrowser, openProfile, signIn, type Watched } from "./browser";
import { expectInert, interactWithAll, settle } from "./hostile-content";
import { inParts, ONE_OF_EACH, PAYLOADS, type Payload } from "./payloads";

/*
 * The payloads as templates and as values of raw variables. Another suite proves that they work without
 * protection. The preview has no URL of its own: an escaped payload would have the origin and session of the
 * editor page.
 */

const patience = { timeout: 60_000 };

let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;
let address: string;

beforeAll(async () => {
  browser = await openBrowser();
  backstamp = await startBackstamp({ SMTP_URL: "capture:" });
  const made = await backstamp.operate(
    "key",
    "create",
    "--name",
    "Whole",
    "--scopes",
    "full_access",
    "--json",
  );
  const { token } = JSON.parse(made);
  profile = await openProfile(browser);
  page = await profile.context.newPage();
  await signIn(page, backstamp.url, ADMIN.email, ADMIN.password);
  const { id } = await backstamp.api(
    "POST",
    "/templates",
    { name: "Raw", subject: "{{BODY}}", html: "<p>Before</p>{{{BODY}}}" },
    token,
  );
  address = `${backstamp.url}/console/templates/${id}`;
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
});

const line = ({ text }: Payload) => text.replace(/[\t\r\n\u2028\u2029]/g, " ").slice(0, 2_000);

test("every payload is inert in the preview document, inside the editor page", async () => {
  const tryFrames = async (part: readonly Payload[]) => {
    const host = await profile.context.newPage();
    await host.goto(address);
    await host.getByRole("heading", { name: "Raw" }).waitFor(patience);
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
    expect(host.url()).toBe(address);
    return host;
  };
  const hosts = await Promise.all(inParts(PAYLOADS, 70).map(tryFrames));
  expectInert(profile, hosts.length + 1);
  await Promise.all(hosts.map((host) => host.close()));
});

test("one payload of each class as a value is text in the subject, inert as raw HTML, and marked as raw", async () => {
  await page.goto(address);
  await page.getByRole("region", { name: "Raw HTML" }).getByText("{{{BODY}}}").waitFor(patience);
  const sample = page.getByLabel("Sample of BODY");
  const subject = page.getByRole("region", { name: "Preview" }).locator("p").first();
  for (const payload of ONE_OF_EACH) {
    const value = line(payload);
    await sample.fill(value);
    await expect
      .poll(() => page.locator("iframe").first().getAttribute("srcdoc"), patience)
      .toContain(`<p>Before</p>${value}`);
    await expect.poll(() => subject.textContent(), patience).toContain(value.trim());
    const frame = await (await page.waitForSelector("iframe")).contentFrame();
    if (frame) await interactWithAll(frame);
    expect(page.url()).toBe(address);
  }
  await settle(page);
  expectInert(profile, 1);
});

test("the images of a template load only on request, in a separate document", async () => {
  await page.goto(address);
  await page.getByLabel("Sample of BODY").fill("x");
  const editor = page.getByRole("textbox", { name: "HTML" });
  await editor.click(patience);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(
    '<p>Shown</p><img src="https://evil.example/1.png"><script>alert(1)</script>',
  );
  await page.frameLocator("iframe").getByText("Shown").waitFor(patience);
  await page.keyboard.press("ControlOrMeta+s");
  await page
    .getByRole("status")
    .getByText(/^Saved/)
    .waitFor(patience);
  expectInert(profile, 1);
  await page.getByRole("button", { name: "Load images" }).click();
  await expect.poll(() => profile.foreign, patience).toEqual(["https://evil.example/1.png"]);
  expect(profile.dialogs).toEqual([]);
  expect(await page.locator("iframe").first().getAttribute("sandbox")).toBe("");
});
