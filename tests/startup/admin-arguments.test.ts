import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import {
  asDomains,
  asId,
  asLimit,
  asName,
  asScopes,
  asTime,
  numberOf,
  orWord,
  wordOf,
} from "#server/startup/admin/arguments";

test("limits of several classes are merged, and the last value of a class applies", () => {
  const once = asLimit("POST /api/emails=1000");
  expect(asLimit("other = 7", once)).toEqual({ "POST /api/emails": 1000, other: 7 });
  expect(asLimit("POST /api/emails=5", once)).toEqual({ "POST /api/emails": 5 });
  expect(asLimit("POST /api/emails=default", once)).toEqual({ "POST /api/emails": null });
});

test("a time requires a time zone, and a date starts in UTC", () => {
  expect(asTime("2030-01-31T12:00:00+01:00")).toEqual(new Date("2030-01-31T11:00:00.000Z"));
  expect(asTime("2030-01-31")).toEqual(new Date("2030-01-31T00:00:00.000Z"));
  expect(orWord("never", asTime)(" never")).toBeNull();
});

const WRONG: [read: (text: string) => unknown, texts: string[]][] = [
  [asScopes, ["", ",", "emails:fly", "emails:send,root", "constructor", "__proto__"]],
  [
    asLimit,
    [
      "other=Default",
      "=default",
      "",
      "other",
      "other=",
      "other=0",
      "other=-1",
      "other=1.5",
      "other=1000001",
      "GET /x=1",
      "=5",
    ],
  ],
  [
    asDomains,
    ["ALL", "all,example.com", "", ",", "no domain", "localhost", "example.com.", "127.0.0.1", "a..example"],
  ],
  [
    orWord("never", asTime),
    ["Never", "none", "", "tomorrow", "2030-02-30", "2030-01-31T12:00:00", "2030-13-01", "1893456000"],
  ],
  [asName, ["", "  ", "x".repeat(101), "two\nlines", "nul\0"]],
  [asId, ["", "42", "x' or 1=1", "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d"]],
  [numberOf(0, 168), ["", "-1", "1h", "1e1", "1.5", "169", "Infinity", "."]],
  [wordOf(["owner", "member"]), ["", "root", "OWNER"]],
];

test("invalid text throws InvalidArgumentError", () => {
  for (const [read, texts] of WRONG)
    for (const text of texts)
      expect(() => read(text), `${read.name} of ${JSON.stringify(text)}`).toThrow(InvalidArgumentError);
});
