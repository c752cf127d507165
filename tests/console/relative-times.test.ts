import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { NowProvider, When } from "../../app/console/_ui/text/when";

const nowMs = Date.parse("2026-05-04T12:00:00Z");

function render(seconds: number, isDue = false): string {
  const at = new Date(nowMs + seconds * 1_000).toISOString();
  const props = { startMs: nowMs, children: createElement(When, { at, isDue }) };
  return renderToStaticMarkup(createElement(NowProvider, props)).replace(/<[^>]+>/g, "");
}

test.each([
  [0, "just now"],
  [-59, "just now"],
  [-60, "1 min ago"],
  [-7_200, "2 h ago"],
  // The data can be newer than the last tick of the clock.
  [12, "just now"],
])("an event %s s from now is displayed as %s", (seconds, text) => {
  expect(render(seconds)).toBe(text);
});

test.each([
  [-10, "just now"],
  [3, "in a few seconds"],
  [14, "in 14 s"],
  [300, "in 5 min"],
])("a due time %s s from now is displayed as %s", (seconds, text) => {
  expect(render(seconds, true)).toBe(text);
});
