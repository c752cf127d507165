import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import {
  readDomainList,
  readId,
  readLimit,
  readMoment,
  readName,
  readOverlapHours,
  readRole,
  readScopeList,
} from "#server/boot/admin/arguments";
import { SCOPES } from "#server/scopes";

test("scopes are read by name and by preset, each once", () => {
  expect(readScopeList("emails:send, emails:read,emails:send")).toEqual(["emails:send", "emails:read"]);
  expect(readScopeList("sending_access")).toEqual(["emails:send"]);
  expect(readScopeList("full_access")).toEqual([...SCOPES]);
});

test("limits of several classes are gathered, and the last word on a class holds", () => {
  const once = readLimit("POST /api/emails=1000");
  expect(readLimit("other = 7", once)).toEqual({ "POST /api/emails": 1000, other: 7 });
  expect(readLimit("POST /api/emails=5", once)).toEqual({ "POST /api/emails": 5 });
});

test("domains are read in the form in which they are kept", () => {
  expect(readDomainList("Example.COM, bücher.example,")).toEqual(["example.com", "xn--bcher-kva.example"]);
});

test("a time names its zone, and a date begins in UTC", () => {
  expect(readMoment("2030-01-31T12:00:00+01:00").toISOString()).toBe("2030-01-31T11:00:00.000Z");
  expect(readMoment("2030-01-31").toISOString()).toBe("2030-01-31T00:00:00.000Z");
});

const WRONG: [read: (text: string) => unknown, texts: string[]][] = [
  [readScopeList, ["", ",", "emails:fly", "emails:send,root", "constructor", "__proto__"]],
  [readLimit, ["", "other", "other=", "other=0", "other=-1", "other=1.5", "other=1000001", "GET /x=1", "=5"]],
  [readDomainList, ["", ",", "no domain", "localhost", "example.com.", "127.0.0.1", "a..example"]],
  [readMoment, ["", "tomorrow", "2030-02-30", "2030-01-31T12:00:00", "2030-13-01", "1893456000"]],
  [readName, ["", "  ", "x".repeat(101), "two\nlines", "nul\0"]],
  [readId, ["", "42", "x' or 1=1", "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d"]],
  [readOverlapHours, ["", "-1", "1h", "1e1", "168.5", "Infinity", "."]],
  [readRole, ["", "root", "OWNER"]],
];

test("what cannot be meant is refused as a wrong argument", () => {
  for (const [read, texts] of WRONG)
    for (const text of texts)
      expect(() => read(text), `${read.name} of ${JSON.stringify(text)}`).toThrow(InvalidArgumentError);
});
