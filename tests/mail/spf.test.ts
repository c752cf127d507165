import { describe, expect, test } from "vitest";
import type { DnsAnswer, DnsRecord, DnsType, QueryDns } from "#server/mail/dns/dns";
import { reverseNameOf } from "#server/mail/dns/reverse-name";
import { isSpfRecord, parseSpf } from "#server/mail/dns/spf/record";
import { checkHost } from "#server/mail/dns/spf/spf";

const IPV4 = "192.0.2.3";
const IPV6 = "2001:db8::cb01";
const DOMAIN = "email.example.com";

/** Records by type and name, in lower case. A name without any does not exist; null is a failed lookup. */
type Records = Partial<{ [T in DnsType]: Record<string, DnsRecord<T>[] | null> }>;

function queryOf(zone: Records) {
  const asked: string[] = [];
  const query: QueryDns = async <T extends DnsType>(name: string, type: T): Promise<DnsAnswer<T>> => {
    asked.push(`${type} ${name}`);
    const records = zone[type]?.[name] as DnsRecord<T>[] | null | undefined;
    const base = { name, type, resolver: "test" };
    if (records === null) return { ...base, kind: "servfail" };
    return records === undefined ? { ...base, kind: "nxdomain" } : { ...base, kind: "answer", records };
  };
  return { query, asked };
}

const texts = (records: Record<string, string>): Records => ({
  TXT: Object.fromEntries(Object.entries(records).map(([name, text]) => [name, [[text]]])),
});
const hosts = (count: number) => Array.from({ length: count }, (_, n) => `h${n}.example.com`);

const evaluate = (record: string, { ip = IPV4, zone = {} as Records } = {}) => {
  const TXT = { ...zone.TXT, [DOMAIN]: [[record]] };
  return checkHost(queryOf({ ...zone, TXT }).query, ip, DOMAIN, { local: "strong-bad" });
};

test.each([
  ["v=spf1 -all", "fail"],
  ["v=spf1 ~all", "softfail"],
  ["v=spf1 ?all", "neutral"],
  ["v=spf1", "neutral"],
  ["v=spf1 ip4:192.0.2.0/30 -all", "pass"],
  ["v=spf1 ip4:192.0.2.4/30 -all", "fail"],
  ["v=spf1 ip6:::ffff:192.0.2.3 -all", "fail"],
  ["v=spf1 -ip4:192.0.2.3 +all", "fail"],
  ["v=spf1 ip4:192.0.2.3 hello", "permerror"],
  ["v=spf1 a:%{d -all", "permerror"],
  ["v=spf1 a:%{d0}.example.com -all", "permerror"],
  ["v=spf2 -all", "none"],
])("%s gives %s", async (record, result) => {
  expect(await evaluate(record)).toMatchObject({ result });
});

describe("a macro", () => {
  // The examples of RFC 7208 section 7.4.
  test.each([
    ["%{s}", "strong-bad@email.example.com"],
    ["%{o}", "email.example.com"],
    ["%{d4}", "email.example.com"],
    ["%{d2}", "example.com"],
    ["%{dr}", "com.example.email"],
    ["%{d2r}", "example.email"],
    ["%{l-}", "strong.bad"],
    ["%{lr-}", "bad.strong"],
    ["%{l1r-}", "strong"],
    ["%{ir}.%{v}._spf.%{d2}", "3.2.0.192.in-addr._spf.example.com"],
    ["%{S}%%%_%-", "strong-bad%40email.example.com% %20"],
    ["%{p}", "mx.example.org"],
  ])("%s is %s", async (macro, value) => {
    const pointer = { PTR: { [reverseNameOf(IPV4)]: ["mx.example.org"] } };
    const zone: Records = {
      ...pointer,
      A: { [`${value}.x`.toLowerCase()]: ["127.0.0.2"], "mx.example.org": [IPV4] },
    };
    expect(await evaluate(`v=spf1 exists:${macro}.x -all`, { zone })).toMatchObject({ result: "pass" });
  });

  test("of an IPv6 address is its hexadecimal digits", async () => {
    const name = "2.0.0.1.0.d.b.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.c.b.0.1.ip6.x";
    const zone: Records = { A: { [name]: ["127.0.0.2"] } };
    expect(await evaluate("v=spf1 exists:%{i}.%{v}.x -all", { ip: IPV6, zone })).toMatchObject({
      result: "pass",
    });
  });
});

test("a PTR record counts only if its name resolves to the address again", async () => {
  const zone = (address: string): Records => ({
    PTR: { [reverseNameOf(IPV4)]: ["mx.email.example.com"] },
    A: { "mx.email.example.com": [address] },
  });
  expect(await evaluate("v=spf1 ptr -all", { zone: zone(IPV4) })).toMatchObject({ result: "pass" });
  expect(await evaluate("v=spf1 ptr -all", { zone: zone("192.0.2.9") })).toMatchObject({ result: "fail" });
});

test("failed lookups are temporary errors, and records that are missing permanent ones", async () => {
  const failing: Records = { TXT: { "x.example.com": null } };
  expect(await evaluate("v=spf1 include:x.example.com -all", { zone: failing })).toMatchObject({
    result: "temperror",
  });
  expect(await evaluate("v=spf1 include:x.example.com -all")).toMatchObject({ result: "permerror" });
  const none = queryOf({}).query;
  expect(await checkHost(none, IPV4, DOMAIN)).toMatchObject({ result: "none" });
});

test("an evaluation ends at ten lookups, also of records that include each other", async () => {
  const { query, asked } = queryOf(
    texts({
      [DOMAIN]: "v=spf1 include:a.example -all",
      "a.example": "v=spf1 include:b.example -all",
      "b.example": "v=spf1 include:a.example -all",
    }),
  );
  expect(await checkHost(query, IPV4, DOMAIN)).toMatchObject({ result: "permerror", exceedsLookups: true });
  expect(asked.length).toBe(11);
});

test("an MX with ten hosts is looked up, and one with eleven is an error", async () => {
  const zone = (count: number): Records => ({
    MX: { [DOMAIN]: hosts(count).map((exchange) => ({ exchange, priority: 1 })) },
    A: Object.fromEntries(hosts(count).map((host, n) => [host, [`192.0.2.${100 + n}`]])),
  });
  expect(await evaluate("v=spf1 mx -all", { zone: zone(10) })).toMatchObject({ result: "fail" });
  expect(await evaluate("v=spf1 mx -all", { zone: zone(11) })).toMatchObject({ result: "permerror" });
});

test("two lookups may have no result, and three are an error", async () => {
  const record = (count: number) =>
    `v=spf1 ${hosts(count)
      .map((host) => `a:${host}`)
      .join(" ")} -all`;
  expect(await evaluate(record(2))).toMatchObject({ result: "fail" });
  expect(await evaluate(record(3))).toMatchObject({ result: "permerror" });
});

test("for an unknown address every term is evaluated, except those that depend on it", async () => {
  const record = `v=spf1 ip4:${IPV4} a:${hosts(1)[0]} exists:%{i}.x -all`;
  const { query, asked } = queryOf({ ...texts({ [DOMAIN]: record }), A: { "h0.example.com": [IPV4] } });
  expect(await checkHost(query, null, DOMAIN)).toMatchObject({ result: "fail" });
  expect(asked).toContain("A h0.example.com");
  expect(asked.join()).not.toContain(".x");
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

test("a record as long as DNS allows is invalid, and none of its terms is evaluated", () => {
  const { faults, mechanisms } = parseSpf(`v=spf1 ${"a:x.example ".repeat(5_000)}-all`);
  expect([faults.length, mechanisms.length]).toEqual([1, 0]);
});
