import { describe, expect, test } from "vitest";
import { describeDomainName, findMixedLabels } from "#server/mail/address/domain-display";
import { toAsciiDomain } from "#server/mail/address/idna";

const shown = (name: string) => describeDomainName(toAsciiDomain(name) ?? "");

test("a plain name needs no second form", () => {
  expect(describeDomainName("mail.example.com")).toEqual({ unicode: null, warning: null });
  expect(describeDomainName("xn--a.example")).toEqual({ unicode: null, warning: null });
});

describe("a name in one script is shown in it without a warning", () => {
  test.each([
    "bücher.example",
    "пример.рф",
    "παράδειγμα.gr",
    "例え.jp",
    "東京タワーabc.jp",
    "한국어abc.kr",
    "مثال.sa",
  ])("%s", (name) => {
    expect(shown(name)).toEqual({ unicode: name, warning: null });
  });
});

describe("a name that can be confused with another gets a warning", () => {
  test.each([
    ["pаypal.example", "Latin and Cyrillic"],
    ["gооgle.example", "Latin and Cyrillic"],
    ["αpple.example", "Latin and Greek"],
    ["аррӏе.com", "Cyrillic letters that look like Latin"],
    ["сосо.example", "Cyrillic letters that look like Latin"],
  ])("%s", (name, words) => {
    expect(shown(name).warning).toContain(words);
  });
});

test.each([
  ["p\u0430ypal.example", "p\u0430ypal", ["Latin", "Cyrillic"]],
  ["mail.\u03bfffice.example", "\u03bfffice", ["Greek", "Latin"]],
  ["\u0431\u0430\u03bdk.example", "\u0431\u0430\u03bdk", ["Cyrillic", "Greek", "Latin"]],
  ["\u0440\u0443-\u13da.example", "\u0440\u0443-\u13da", ["Cyrillic", "another script"]],
])("%s mixes scripts in one label, in both of its forms", (domain, label, scripts) => {
  expect(findMixedLabels(domain)).toEqual([{ label, scripts }]);
  expect(findMixedLabels(toAsciiDomain(domain) ?? "")).toMatchObject([{ scripts }]);
});

test.each([
  "example.com",
  "xn--mnchen-3ya.de",
  "b\u00fccher-24.example",
  "\u043f\u0440\u0438\u043c\u0435\u0440.com",
  "\u03c0\u03b1\u03c1\u03ac\u03b4\u03b5\u03b9\u03b3\u03bc\u03b1.gr",
  "\u4f8b\u3048\u30c6\u30b9\u30c8abc.jp",
  "\u30e1\u30fc\u30eb.jp",
  "\ud55c\uad6d\u6f22abc.kr",
  "\u0645\u062b\u0627\u0644.example",
  "\u13e3\u13b3\u13a9.example",
])("%s has no unusual mix of scripts", (domain) => {
  expect(findMixedLabels(domain)).toEqual([]);
});
