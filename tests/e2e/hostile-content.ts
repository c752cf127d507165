import type { Frame, Page } from "playwright-core";
import { expect } from "vitest";
import type { Watched } from "./browser";

/** Messages that the browser logs when it blocks something. */
const REFUSAL =
  /Content Security Policy|Blocked script execution|is sandboxed|Blocked form submission|Unsafe attempt|Refused to|Permission policy|not executable|Blocked setting the|Blocked opening|ERR_BLOCKED|ERR_UNKNOWN_URL_SCHEME|Not allowed to/;

/** Expects that no script ran, no other host was contacted, and no additional window was opened. */
export function expectInert(profile: Watched, pages: number): void {
  expect(profile.dialogs).toEqual([]);
  expect(profile.foreign).toEqual([]);
  expect(profile.context.pages()).toHaveLength(pages);
  // In a message document the browser logs blocked attempts and requests for missing files of our own origin.
  const ours = profile.errors.filter(
    ({ at, text }) =>
      !/\/body(\?|$)|\/preview(\?|$)/.test(at) && !REFUSAL.test(text) && !/ 40[04] /.test(text),
  );
  expect(ours).toEqual([]);
}

/** A document that never stops navigating does not respond. This is the longest wait for it. */
const answerMaxMs = 15_000;
const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
  Promise.race([
    work.catch(() => otherwise),
    new Promise<T>((resolve) => setTimeout(resolve, answerMaxMs, otherwise)),
  ]);

/** Clicks, focuses and hovers every element of a document. */
export const interactWithAll = (frame: Frame): Promise<void> =>
  inTime(
    frame.locator("*").evaluateAll((elements) => {
      for (const element of elements) {
        for (const type of ["mouseover", "pointerrawupdate", "beforeinput", "auxclick"])
          element.dispatchEvent(new Event(type, { bubbles: true }));
        if (element instanceof HTMLElement) element.focus();
        if (element instanceof HTMLElement) element.click();
        else element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      }
    }),
    undefined,
  );

/** Gives the content of the page time to attempt what it must not do. */
export async function settle(page: Page): Promise<void> {
  // A document that waits for a blocked resource is never idle; 5 seconds are enough for its payload.
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => {});
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300))));
}

/** All displayed texts of the page by node, including the values of fields. */
export const textsOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const texts: string[] = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (!node.parentElement?.closest("script, style, template")) texts.push(node.nodeValue ?? "");
    for (const field of document.querySelectorAll("input, textarea"))
      if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) texts.push(field.value);
    return texts;
  });

/** Elements and attributes that exist only if a text was interpreted as markup. */
export const foreignMarkupOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    for (const element of document.querySelectorAll("*")) {
      const name = element.localName;
      for (const { name: attribute, value } of element.attributes) {
        if (/^on/i.test(attribute)) found.push(`${name} ${attribute}`);
        if (/^(href|src|action|formaction|data|xlink:href|poster|background|ping)$/i.test(attribute)) {
          const url = new URL(value, location.href);
          const isOwn = url.origin === location.origin || url.protocol === "blob:";
          const isPicture = name === "img" && url.protocol === "data:";
          const isLink =
            name === "a" && /^(https?|mailto):$/.test(url.protocol) && !url.host.includes("evil");
          if (!isOwn && !isPicture && !isLink) found.push(`${name} ${attribute}=${value}`);
        }
      }
      if (
        /^(object|embed|applet|base|frame|frameset|marquee|math|portal|fencedframe|xmp|plaintext)$/.test(name)
      )
        found.push(name);
      if (name === "iframe" && element.getAttribute("sandbox") !== "") found.push("iframe without sandbox");
      if (name === "meta" && element.hasAttribute("http-equiv")) found.push("meta http-equiv");
    }
    return found;
  });

/** Expects that the page displays these texts verbatim, and that none of them became an element. */
export async function expectAsText(page: Page, expected: readonly string[]): Promise<void> {
  await expect
    .poll(
      async () => {
        const texts = await textsOn(page);
        return expected.filter((text) => !texts.some((displayed) => displayed.includes(text)));
      },
      { timeout: 60_000 },
    )
    .toEqual([]);
  expect(await foreignMarkupOn(page)).toEqual([]);
}
