import type { Page } from "playwright-core";
import { expect } from "vitest";

const WIDTHS = [380, 820, 1280];

/**
 * Expects each address on the page to be on one line at the widths of a phone, a tablet and a window. An
 * address that is longer than its whole line may break. Code, such as a body or a command, may break
 * anywhere. Restores the size.
 */
export async function expectWholeAddresses(page: Page): Promise<void> {
  const size = page.viewportSize();
  const broken: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const text of await page.evaluate(findBrokenAddresses)) broken.push(`${width} px: ${text}`);
  }
  if (size) await page.setViewportSize(size);
  expect(broken).toEqual([]);
}

/** Runs in the browser: the addresses that are in several lines, although they fit in one. */
export function findBrokenAddresses(): string[] {
  const broken: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  /** The width of a text without a line break, in the style of its element. */
  const widthOf = (text: string, element: Element): number => {
    const probe = document.createElement("span");
    probe.textContent = text;
    probe.style.cssText = "position: absolute; visibility: hidden; white-space: nowrap";
    element.append(probe);
    const { width } = probe.getBoundingClientRect();
    probe.remove();
    return width;
  };
  /** The width of a line around an element: that of the nearest element that begins one. */
  const lineWidthOf = (element: Element): number => {
    const style = getComputedStyle(element);
    if (/^(inline|contents)/.test(style.display) && element.parentElement)
      return lineWidthOf(element.parentElement);
    return element.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  };
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!element || element.closest("pre, script, style, [hidden]")) continue;
    for (const { 0: text, index } of (node.textContent ?? "").matchAll(/\S+@\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + text.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1 && widthOf(text, element) <= lineWidthOf(element)) broken.push(text);
    }
  }
  return broken;
}
