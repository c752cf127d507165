import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { SCOPES } from "#server/shared/scopes";
import {
  readDomainList,
  readExpiry,
  readId,
  readLimit,
  readName,
  readOverlapHours,
  readRole,
  readScopeList,
} from "#server/startup/admin/arguments";

test("scopes are parsed by name and by preset, without duplicates", () => {
  expect(readScopeList("emails:send, emails:read,emails:send")).toEqual(["emails:send", "emails:read"]);
  expect(readScopeList("sending_access")).toEqual(["emails:send"]);
  expect(readScopeList("full_access")).toEqual([...SCOPES]);
});

test("limits of several classes are merged, and the last value of a class applies", () => {
  const once = readLimit("POST /api/emails=1000");
  expect(readLimit("other = 7", once)).toEqual({ "POST /api/emails": 1000, other: 7 });
  expect(readLimit("POST /api/emails=5", once)).toEqual({ "POST /api/emails": 5 });
  expect(readLimit("POST /api/emails=default", once)).toEqual({ "POST /api/emails": null });
});

test("domains are normalized", () => {
  expect(readDomainList("Example.COM, bücher.example,")).toEqual(["example.com", "xn--bcher-kva.example"]);
  expect(readDomainList(" all ")).toBe("all");
});

test("a time requires a time zone, and a date starts in UTC", () => {
  expect(readExpiry("2030-01-31T12:00:00+01:00")).toEqual(new Date("2030-01-31T11:00:00.000Z"));
  expect(readExpiry("2030-01-31")).toEqual(new Date("2030-01-31T00:00:00.000Z"));
  expect(readExpiry(" never")).toBe("never");
});

const WRONG: [read: (text: string) => unknown, texts: string[]][] = [
  [readScopeList, ["", ",", "emails:fly", "emails:send,root", "constructor", "__proto__"]],
  [
    readLimit,
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
    readDomainList,
    ["ALL", "all,example.com", "", ",", "no domain", "localhost", "example.com.", "127.0.0.1", "a..example"],
  ],
  [
    readExpiry,
    ["Never", "none", "", "tomorrow", "2030-02-30", "2030-01-31T12:00:00", "2030-13-01", "1893456000"],
  ],
  [readName, ["", "  ", "x".repeat(101), "two\nlines", "nul\0"]],
  [readId, ["", "42", "x' or 1=1", "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d"]],
  [readOverlapHours, ["", "-1", "1h", "1e1", "168.5", "Infinity", "."]],
  [readRole, ["", "root", "OWNER"]],
];

test("invalid text throws InvalidArgumentError", () => {
  for (const [read, texts] of WRONG)
    for (const text of texts)
      expect(() => read(text), `${read.name} of ${JSON.stringify(text)}`).toThrow(InvalidArgumentError);
});
