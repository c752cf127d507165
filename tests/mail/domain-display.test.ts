import { describe, expect, test } from "vitest";
import { describeDomainName } from "#server/mail/address/domain-display";
import { toAsciiDomain } from "#server/mail/address/idna";

const shown = (name: string) => describeDomainName(toAsciiDomain(name) ?? "");

test("a plain name needs no second form", () => {
  expect(describeDomainName("mail.example.com")).toEqual({ unicode: null, warning: null });
  expect(describeDomainName("xn--a.example")).toEqual({ unicode: null, warning: null });
});

describe("a name of one language is shown in its script without a warning", () => {
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

describe("a name that may be taken for another is warned of", () => {
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
