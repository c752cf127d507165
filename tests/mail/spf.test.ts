import { describe, expect, test } from "vitest";
import type { DnsType, QueryDns } from "#server/mail/dns/dns";
import { isSpfRecord, spfLookupsMax, walkSpf } from "#server/mail/dns/spf";

/** Names and their SPF records. An absent name is `nxdomain`; null is a failed lookup. */
function askOf(zone: Record<string, string | null>) {
  const asked: string[] = [];
  const ask: QueryDns = async <T extends DnsType>(name: string, type: T) => {
    asked.push(name);
    const text = zone[name];
    const base = { name, type, resolver: "test" };
    if (text === undefined) return { ...base, kind: "nxdomain" };
    if (text === null) return { ...base, kind: "servfail" };
    return { ...base, kind: "answer", records: [[text]] as never };
  };
  return { ask, asked };
}

const lookupsOf = async (record: string, zone: Record<string, string | null> = {}) =>
  (await walkSpf(askOf(zone).ask, record)).lookups;

describe("the lookups of a record", () => {
  test.each([
    ["v=spf1 -all", 0],
    ["v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 ~all", 0],
    ["v=spf1 a mx ptr exists:%{i}.x.example include:x.example -all", 5],
    ["v=spf1 A:mail.example/28 MX:example.com//64 ?include:x.example", 3],
    ["v=spf1 redirect=x.example", 1],
    ["v=spf1 redirect=x.example -all", 0],
    ["v=spf1 exp=explain.example.com -all", 0],
    [`v=spf1 ${"a ".repeat(10)}-all`, 10],
    [`v=spf1 ${"a ".repeat(11)}-all`, 11],
    [`v=spf1 ${"a ".repeat(10_000)}-all`, 11],
  ])("%.60s needs %i lookups", async (record, lookups) => {
    expect(await lookupsOf(record)).toBe(lookups);
  });

  test("include those of included records at any depth", async () => {
    const zone = {
      "a.example": "v=spf1 include:b.example a mx -all",
      "b.example": "v=spf1 redirect=c.example",
      "c.example": "v=spf1 a:x.example -all",
    };
    expect(await lookupsOf("v=spf1 include:a.example -all", zone)).toBe(6);
  });

  test("stop at the limit in records that include each other", async () => {
    const { ask, asked } = askOf({
      "a.example": "v=spf1 include:b.example -all",
      "b.example": "v=spf1 include:a.example -all",
    });
    expect((await walkSpf(ask, "v=spf1 include:a.example")).lookups).toBe(spfLookupsMax + 1);
    expect(asked.length).toBeLessThanOrEqual(spfLookupsMax);
  });

  test("are marked as partial if an included record could not be read", async () => {
    const walk = await walkSpf(askOf({ "a.example": null }).ask, "v=spf1 include:a.example -all");
    expect(walk).toMatchObject({ lookups: 1, isPartial: true });
  });
});

test("a term passes only if every include above it passes", async () => {
  const zone = {
    "yes.example": "v=spf1 a:in.example ~a:soft.example -all",
    "no.example": "v=spf1 a:out.example -all",
  };
  const { passing } = await walkSpf(
    askOf(zone).ask,
    "v=spf1 +A:Own.example include:yes.example -include:no.example ~all",
  );
  expect([...passing].sort()).toEqual(["a:in.example", "a:own.example", "include:yes.example"]);
});

test.each([
  ["v=spf1 -all", true],
  ["V=SPF1", true],
  ["v=spf10 -all", false],
  [" v=spf1", false],
  ['"v=spf1 -all"', false],
])("%j is an SPF record: %s", (text, isOne) => {
  expect(isSpfRecord(text)).toBe(isOne);
});
