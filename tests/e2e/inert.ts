import type { Frame, Page } from "playwright-core";
import { expect } from "vitest";
import type { Watched } from "./browser";

/** What the browser itself says when it holds something back; nothing else may complain. */
const REFUSAL =
  /Content Security Policy|Blocked script execution|is sandboxed|Blocked form submission|Unsafe attempt|Refused to|Permission policy|not executable|Blocked setting the|Blocked opening|ERR_BLOCKED|ERR_UNKNOWN_URL_SCHEME|Not allowed to/;

/** Nothing ran, nothing was asked of another host, and no window was opened beyond those that the test has. */
export function expectInert(profile: Watched, pages: number): void {
  expect(profile.dialogs).toEqual([]);
  expect(profile.foreign).toEqual([]);
  expect(profile.context.pages()).toHaveLength(pages);
  // A document of a message that tries is refused aloud, or asks our own origin for what is not there.
  const ours = profile.errors.filter(
    ({ at, text }) =>
      !/\/body(\?|$)|\/preview(\?|$)/.test(at) && !REFUSAL.test(text) && !/ 40[04] /.test(text),
  );
  expect(ours).toEqual([]);
}

/** A document that is for ever on its way somewhere else answers nothing: so long it is waited for. */
const answerMaxMs = 10_000;
const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
  Promise.race([
    work.catch(() => otherwise),
    new Promise<T>((resolve) => setTimeout(resolve, answerMaxMs, otherwise)),
  ]);

/** The frame's document as markup; empty where it cannot be asked. */
export const markupOf = (frame: Frame): Promise<string> => inTime(frame.content(), "");

/** Presses, focuses and points at everything that a document holds. */
export const touchAll = (frame: Frame): Promise<void> =>
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

/** Gives whatever is on the page time to do what it must not. */
export async function settle(page: Page): Promise<void> {
  // A document that waits for ever for what it may not have never rests, and had its say by then.
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => {});
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300))));
}

/** Every text on the page as its reader sees it, node by node; of fields what stands in them. */
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

/** What on the page could only have come from a text that was taken for markup. */
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
      if (name === "iframe" && element.getAttribute("sandbox") !== "") found.push("iframe that is not held");
      if (name === "meta" && element.hasAttribute("http-equiv")) found.push("meta http-equiv");
    }
    return found;
  });

/** The page shows these texts letter by letter, and nothing of them became an element. */
export async function expectAsText(page: Page, wanted: readonly string[]): Promise<void> {
  await expect
    .poll(
      async () => {
        const texts = await textsOn(page);
        return wanted.filter((text) => !texts.some((shown) => shown.includes(text)));
      },
      { timeout: 60_000 },
    )
    .toEqual([]);
  expect(await foreignMarkupOn(page)).toEqual([]);
}
