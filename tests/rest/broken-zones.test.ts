import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { openWorld } from "../support/world";

const M = "mail.backstamp.example";
const IPV4 = "192.0.2.25";
const IPV6 = "2001:db8::25";

type Check = { asked_name: string; fault: string | null; advice: string | null };
type Seen = Listed & { purpose: string; status: string; check: Check };
type Domain = { id: string; status: string; records: Seen[]; dmarc: Seen; also_checked: Seen[] };
type Strings = string | string[];

const { zone, peer } = await startZone();
const world = await openWorld({
  dnsServers: [peer],
  transportKind: "direct",
  names: { mailHost: M, returnPathDomain: null, webHost: null },
});
const { token } = await world.key();
afterAll(() => peer.close());
beforeEach(() => {
  zone.clear();
  zone.set(M, "A", IPV4);
  zone.set(M, "AAAA", IPV6);
  for (const [name, text] of Object.entries(OTHERS)) zone.set(name, "TXT", text);
  zone.set("mx.example", "MX", { preference: 1, exchange: M });
  zone.set("crowd.example", "MX", ...many(11, (n) => ({ preference: n, exchange: `mx${n}.crowd.example` })));
  zone.set("25.2.0.192.in-addr.exists.example", "A", "127.0.0.2");
  zone.set(`5.2.${"0.".repeat(22)}8.b.d.0.1.0.0.2.ip6.exists.example`, "A", "127.0.0.2");
  zone.fail("failing.example", { rcode: "SERVFAIL" });
  zone.set("two.example", "TXT", "v=spf1 -all", "v=spf1 ~all");
});

const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n));

/** Records of other domains, which those under test refer to. */
const OTHERS: Record<string, string> = {
  "ours.example": `v=spf1 a:${M} -all`,
  "strangers.example": "v=spf1 ip4:198.51.100.0/24 -all",
  "wide.example": "v=spf1 +all",
  "broken.example": "v=spf1 ip4:192.0.2.300 -all",
  "plain.example": "no SPF record",
  "loop.example": "v=spf1 include:back.example -all",
  "back.example": "v=spf1 include:loop.example -all",
  "lots.example": `v=spf1 ${many(6, () => `a:${M}`).join(" ")} -all`,
};

let count = 0;
async function publishedDomain(): Promise<Domain & { name: string; spfHost: string }> {
  const name = `z${++count}.example`;
  const { body } = await world.api("POST", "/api/domains", { token, body: { name } });
  const domain = body as unknown as Domain;
  publish(zone, domain.records);
  zone.set(`_dmarc.${name}`, "TXT", "v=DMARC1; p=none;");
  return { ...domain, name, spfHost: `send.${name}` };
}

async function verify({ id }: Domain) {
  const { body } = await world.api("POST", `/api/domains/${id}/verify`, { token });
  const domain = body as unknown as Domain;
  const spf = domain.records.find(({ purpose }) => purpose === "spf");
  if (!spf) throw new Error("The domain has no SPF record");
  return { ...domain, spf, domainSpf: domain.also_checked.find(({ purpose }) => purpose === "domain_spf") };
}

/** The record that an advice says to publish: it is the end of the text. */
const correctedIn = (advice: string | null, version: "v=spf1" | "v=DMARC1"): string => {
  const found = advice?.slice(advice.lastIndexOf(`: ${version}`) + 2) ?? "";
  expect(found.startsWith(`${version}`)).toBe(true);
  return found;
};

const RIGHT_SPF: [what: string, record: Strings][] = [
  ["the addresses of the host", `v=spf1 ip4:${IPV4} ip6:${IPV6} -all`],
  ["networks", "v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 ~all"],
  ["upper case", `V=SPF1 A:${M.toUpperCase()} ~ALL`],
  ["an include", "v=spf1 include:strangers.example include:ours.example ?all"],
  ["a redirect", "v=spf1 redirect=ours.example"],
  ["an MX", "v=spf1 mx:mx.example/30//64 -all"],
  ["a macro", "v=spf1 exists:%{ir}.%{v}.exists.example -all"],
  ["several strings", ["v=spf1 a:", `${M} ~`, "all"]],
  ["modifiers", `v=spf1 exp=why.%{d} a:${M} other=%{i} -all`],
  ["spaces", `v=spf1   a:${M}   `],
];

const BROKEN_SPF: [what: string, fault: string, ...records: Strings[]][] = [
  ["no sender", "wrong_value", "v=spf1 -all"],
  ["no term", "wrong_value", "v=spf1"],
  ["nothing but neutral", "wrong_value", "v=spf1 ?all"],
  ["one family", "wrong_value", `v=spf1 ip4:${IPV4} -all`],
  ["another network", "wrong_value", "v=spf1 ip4:198.51.100.0/24 ip6:2001:db9::/32 -all"],
  ["the include of strangers", "wrong_value", "v=spf1 include:strangers.example ~all"],
  ["the host excluded", "wrong_value", `v=spf1 -a:${M} a:${M} ~all`],
  ["the include excluded", "wrong_value", "v=spf1 -include:ours.example ~all"],
  ["an address that is none", "spf_invalid", `v=spf1 a:${M} ip4:999.1.1.1 ~all`],
  ["ipv4", "spf_invalid", `v=spf1 ipv4:${IPV4} ip6:${IPV6} ~all`],
  ["a prefix that is too long", "spf_invalid", `v=spf1 ip4:${IPV4}/33 a:${M} ~all`],
  ["a prefix with a zero in front", "spf_invalid", `v=spf1 ip4:${IPV4}/032 a:${M} ~all`],
  ["an address of the other family", "spf_invalid", `v=spf1 ip6:${IPV4} ~all`],
  ["a space after the colon", "spf_invalid", `v=spf1 a: ${M} ~all`],
  ["no space", "spf_invalid", `v=spf1 a:${M}~all`],
  ["a semicolon", "spf_invalid", `v=spf1 a:${M} ~all;`],
  ["commas", "spf_invalid", `v=spf1 a:${M}, include:ours.example, ~all`],
  ["a quotation mark", "spf_invalid", `v=spf1 a:${M} ~all"`],
  ["a tab", "spf_invalid", `v=spf1 a:${M}\t~all`],
  ["a word", "spf_invalid", `v=spf1 a:${M} ours ~all`],
  ["a typing error", "spf_invalid", `v=spf1 inlcude:ours.example a:${M} ~all`],
  ["all with a value", "spf_invalid", `v=spf1 a:${M} -all:ours.example`],
  ["an equals sign", "spf_ignored", `v=spf1 include=ours.example a:${M} ~all`],
  ["an include without a name", "spf_invalid", `v=spf1 a:${M} include: ~all`],
  ["an include with a prefix", "spf_invalid", `v=spf1 include:ours.example/24 ~all`],
  ["a URL", "spf_invalid", `v=spf1 a:https://${M}/ ~all`],
  ["a name that is an address", "spf_invalid", `v=spf1 a:${IPV4} ~all`],
  ["two redirects", "spf_invalid", "v=spf1 redirect=ours.example redirect=strangers.example"],
  ["an unknown macro", "spf_invalid", `v=spf1 a:${M} exists:%{x}.exists.example ~all`],
  ["an open macro", "spf_invalid", `v=spf1 a:${M} exists:%{i.exists.example ~all`],
  ["a macro for explanations", "spf_invalid", `v=spf1 a:${M} exists:%{c}.exists.example ~all`],
  ["a percent sign", "spf_invalid", `v=spf1 a:${M} exists:%i.exists.example ~all`],
  ["another version", "spf_invalid", `v=spf10 a:${M} ~all`],
  ["no space after the version", "spf_invalid", `v=spf1a:${M} ~all`],
  ["no version", "spf_invalid", `spf1 a:${M} ~all`],
  ["spaces in the version", "spf_invalid", `v = spf1 a:${M} ~all`],
  ["a space in front", "spf_invalid", ` v=spf1 a:${M} ~all`],
  ["typographic quotation marks", "quoted_value", `“v=spf1 a:${M} ~all”`],
  ["quotation marks", "quoted_value", `"v=spf1 a:${M} ~all"`],
  ["a space lost between strings", "split_value", [`v=spf1 a:${M}`, "~all"]],
  ["other text", "missing", "hello"],
  ["two records", "several_spf", `v=spf1 a:${M} -all`, "v=spf1 include:strangers.example ~all"],
  ["the same record twice", "several_spf", `v=spf1 a:${M} -all`, `v=spf1 a:${M} -all`],
  ["an include of nothing", "spf_invalid", `v=spf1 a:${M} include:nothing.example ~all`],
  ["an include without SPF", "spf_invalid", `v=spf1 include:plain.example a:${M} ~all`],
  ["an include of two records", "spf_invalid", `v=spf1 include:two.example a:${M} ~all`],
  ["an include of a broken record", "spf_invalid", `v=spf1 a:${M} include:broken.example ~all`],
  ["a redirect to nothing", "spf_invalid", "v=spf1 redirect=nothing.example"],
  ["a redirect without SPF", "spf_invalid", `v=spf1 a:${M} redirect=plain.example`],
  ["void lookups", "spf_invalid", `v=spf1 a:${M} a:v1.example mx:v2.example exists:v3.example ~all`],
  ["too many MX hosts", "spf_invalid", `v=spf1 a:${M} mx:crowd.example ~all`],
  ["eleven lookups", "too_many_lookups", `v=spf1 ${many(11, (n) => `a:h${n}.example`).join(" ")} ~all`],
  ["lookups of an include", "too_many_lookups", `v=spf1 include:lots.example include:lots.example -all`],
  ["includes in a circle", "too_many_lookups", `v=spf1 a:${M} include:loop.example -all`],
  ["terms after all", "spf_ignored", `v=spf1 ~all a:${M}`],
  ["more terms after all", "spf_ignored", `v=spf1 a:${M} -all include:strangers.example`],
  ["a redirect with all", "spf_ignored", "v=spf1 redirect=ours.example ~all"],
  ["everybody", "spf_open", "v=spf1 +all"],
  ["everybody, by all", "spf_open", `v=spf1 a:${M} all`],
  ["every network", "spf_open", `v=spf1 ip4:0.0.0.0/0 ip6:::/0 -all`],
  ["everybody, by an include", "spf_open", `v=spf1 a:${M} include:wide.example -all`],
  ["a failing include", "servfail", `v=spf1 a:${M} include:failing.example -all`],
];

describe("an SPF record of the return path", () => {
  test.each(RIGHT_SPF)("is verified with %s", async (_, record) => {
    const made = await publishedDomain();
    zone.set(made.spfHost, "TXT", record);
    const { spf, status } = await verify(made);
    expect(spf).toMatchObject({ status: "verified", check: { fault: null, advice: null } });
    expect(status).toBe("verified");
  });

  test.each(BROKEN_SPF)("with %s has the fault %s, and the corrected one is verified", async (...row) => {
    const [, fault, ...records] = row as (typeof BROKEN_SPF)[number];
    const made = await publishedDomain();
    zone.set(made.spfHost, "TXT", ...records);
    const { spf, status } = await verify(made);
    expect(spf.check).toMatchObject({ fault, advice: expect.stringContaining(made.spfHost) });
    expect(status).not.toBe("verified");
    if (fault === "missing" || fault === "servfail") return;
    expect(spf.status).toBe("failed");
    const corrected = correctedIn(spf.check.advice, "v=spf1");
    zone.set(made.spfHost, "TXT", corrected);
    expect((await verify(made)).spf).toMatchObject({ status: "verified", check: { fault: null } });
  });
});

test("the SPF record cannot pass for a host without an address", async () => {
  const made = await publishedDomain();
  zone.remove(M, "A");
  zone.remove(M, "AAAA");
  const { spf } = await verify(made);
  expect(spf).toMatchObject({
    status: "failed",
    check: { fault: "spf_no_address", advice: expect.stringContaining(M) },
  });
  zone.fail(M, { rcode: "SERVFAIL" });
  expect((await verify(made)).spf.status).toBe("temporary_failure");
});

test("the domain's own SPF record must pass only while its addresses are the return path", async () => {
  const made = await publishedDomain();
  zone.set(made.name, "TXT", "v=spf1 -all");
  expect((await verify(made)).domainSpf).toMatchObject({ status: "verified", check: { fault: null } });
  zone.remove(made.spfHost, "MX");
  const { domainSpf } = await verify(made);
  expect(domainSpf).toMatchObject({ status: "failed", check: { fault: "wrong_value" } });
  zone.set(made.name, "TXT", correctedIn(domainSpf?.check.advice ?? null, "v=spf1"));
  expect((await verify(made)).domainSpf?.status).toBe("verified");
});

const DOMAIN_SPF =
  /^(?:an include of nothing|ipv4|an address that is none|void lookups|two records|terms after all|everybody)$/;
test.each(BROKEN_SPF.filter(([what]) => DOMAIN_SPF.test(what)))(
  "the domain's own SPF record with %s has the fault %s",
  async (...row) => {
    const [, fault, ...records] = row as (typeof BROKEN_SPF)[number];
    const made = await publishedDomain();
    zone.set(made.name, "TXT", ...records);
    const { domainSpf, status } = await verify(made);
    expect(domainSpf).toMatchObject({ status: "failed", check: { fault, asked_name: made.name } });
    expect(status).toBe("verified");
  },
);

const RIGHT_DMARC: [what: string, ...records: string[]][] = [
  ["a policy", "v=DMARC1;p=reject"],
  ["spaces and upper case", "v = DMARC1 ; p = Quarantine ; ASPF=R;"],
  [
    "every tag",
    "v=DMARC1; p=none; sp=reject; np=none; adkim=s; aspf=r; pct=0; fo=1:d:s; rf=afrf; ri=3600; t=n; psd=n",
  ],
  [
    "reports to the domain itself",
    "v=DMARC1; p=none; rua=mailto:a@DOMAIN!10m , mailto:b+c@sub.DOMAIN; ruf=MAILTO:d@DOMAIN",
  ],
  ["reports that another domain allows", "v=DMARC1; p=none; rua=mailto:a@reports.example,mailto:b@DOMAIN"],
  ["other text beside it", "v=DMARC1; p=none", "v=spf1 -all"],
];

const BROKEN_DMARC: [what: string, fault: string, ...records: string[]][] = [
  ["no policy", "dmarc_invalid", "v=DMARC1; rua=mailto:a@DOMAIN"],
  ["only the version", "dmarc_invalid", "v=DMARC1"],
  ["an unknown policy", "dmarc_invalid", "v=DMARC1; p=monitor; rua=mailto:a@DOMAIN"],
  ["an empty policy", "dmarc_invalid", "v=DMARC1; p=; rua=mailto:a@DOMAIN"],
  ["commas", "dmarc_syntax", "v=DMARC1, p=reject, rua=mailto:a@DOMAIN"],
  ["no semicolon", "dmarc_syntax", "v=DMARC1 p=reject"],
  ["the version in lower case", "dmarc_syntax", "v=dmarc1; p=reject"],
  ["another version", "dmarc_syntax", "v=DMARC2; p=reject"],
  ["no version", "dmarc_syntax", "DMARC1; p=reject"],
  ["quotation marks", "dmarc_syntax", '"v=DMARC1; p=reject"'],
  ["typographic quotation marks", "dmarc_syntax", "“v=DMARC1; p=reject”"],
  ["a space in front", "dmarc_syntax", " v=DMARC1; p=reject"],
  ["the policy third", "dmarc_syntax", "v=DMARC1; rua=mailto:a@DOMAIN; p=reject"],
  ["an unknown policy of subdomains", "dmarc_syntax", "v=DMARC1; p=reject; sp=all"],
  ["a percentage above 100", "dmarc_syntax", "v=DMARC1; p=reject; pct=101"],
  ["a percent sign", "dmarc_syntax", "v=DMARC1; p=reject; pct=50%"],
  ["an unknown alignment", "dmarc_syntax", "v=DMARC1; p=reject; adkim=relaxed"],
  ["an unknown report option", "dmarc_syntax", "v=DMARC1; p=reject; fo=2"],
  ["a tag twice", "dmarc_syntax", "v=DMARC1; p=reject; p=none"],
  ["a typing error", "dmarc_syntax", "v=DMARC1; p=reject; rau=mailto:a@DOMAIN"],
  ["more text", "dmarc_syntax", "v=DMARC1; p=reject; please"],
  ["two records", "several_dmarc", "v=DMARC1; p=reject", "v=DMARC1; p=none"],
  ["an address without mailto", "dmarc_reports", "v=DMARC1; p=none; rua=a@DOMAIN"],
  ["a URL for reports", "dmarc_reports", "v=DMARC1; p=none; rua=https://DOMAIN/reports"],
  ["slashes after mailto", "dmarc_reports", "v=DMARC1; p=none; ruf=mailto://a@DOMAIN"],
  ["a space between addresses", "dmarc_reports", "v=DMARC1; p=none; rua=mailto:a@DOMAIN mailto:b@DOMAIN"],
  ["an unknown size limit", "dmarc_reports", "v=DMARC1; p=none; rua=mailto:a@DOMAIN!10x"],
  ["an empty address", "dmarc_reports", "v=DMARC1; p=none; rua="],
  ["one address without mailto", "dmarc_reports", "v=DMARC1; p=none; rua=mailto:a@DOMAIN,b@DOMAIN"],
  [
    "reports to a domain without consent",
    "dmarc_report_unauthorized",
    "v=DMARC1; p=none; rua=mailto:a@silent.example",
  ],
  [
    "one of several without consent",
    "dmarc_report_unauthorized",
    "v=DMARC1; p=none; rua=mailto:a@reports.example,mailto:b@silent.example",
  ],
  [
    "copies to a domain without consent",
    "dmarc_report_unauthorized",
    "v=DMARC1; p=none; ruf=mailto:a@silent.example!1m",
  ],
  [
    "a consent that is no DMARC record",
    "dmarc_report_unauthorized",
    "v=DMARC1; p=none; rua=mailto:a@plain.example",
  ],
  ["a consent that cannot be read", "servfail", "v=DMARC1; p=none; rua=mailto:a@failing.example"],
];

describe("a DMARC record", () => {
  const publishDmarc = async (records: string[]) => {
    const made = await publishedDomain();
    zone.set(`_dmarc.${made.name}`, "TXT", ...records.map((text) => text.replaceAll("DOMAIN", made.name)));
    zone.set(`${made.name}._report._dmarc.reports.example`, "TXT", "v=DMARC1;");
    zone.set(`${made.name}._report._dmarc.plain.example`, "TXT", "yes");
    zone.fail(`${made.name}._report._dmarc.failing.example`, { rcode: "SERVFAIL" });
    return made;
  };

  test.each(RIGHT_DMARC)("is verified with %s", async (_, ...records) => {
    expect((await verify(await publishDmarc(records))).dmarc).toMatchObject({
      status: "verified",
      check: { fault: null },
    });
  });

  test.each(BROKEN_DMARC)("with %s has the fault %s, and the corrected one is verified", async (...row) => {
    const [, fault, ...records] = row as (typeof BROKEN_DMARC)[number];
    const made = await publishDmarc(records);
    const name = `_dmarc.${made.name}`;
    const { dmarc } = await verify(made);
    expect(dmarc.check).toMatchObject({ fault, advice: expect.stringContaining(name) });
    if (fault === "servfail") return expect(dmarc.status).toBe("temporary_failure");
    expect(dmarc.status).toBe("failed");
    if (fault === "dmarc_report_unauthorized") {
      const consent = dmarc.check.advice?.split(" ").at(-1) ?? "";
      expect(consent).toContain(`${made.name}._report._dmarc.`);
      zone.set(consent, "TXT", "v=DMARC1;");
    } else zone.set(name, "TXT", correctedIn(dmarc.check.advice, "v=DMARC1"));
    expect((await verify(made)).dmarc).toMatchObject({ status: "verified", check: { fault: null } });
  });

  test("behind a CNAME is read, and a CNAME to nothing is detected", async () => {
    const made = await publishedDomain();
    const name = `_dmarc.${made.name}`;
    const alias = { name, type: "CNAME" as const, ttl: 0, data: "policy.example" };
    const policy = { name: "policy.example", type: "TXT" as const, ttl: 0, data: "v=DMARC1; p=none" };
    zone.fail(name, { answers: [alias, policy] });
    expect((await verify(made)).dmarc.status).toBe("verified");
    zone.fail(name, null);
    zone.remove(name, "TXT");
    zone.set(name, "CNAME", alias.data);
    const { dns } = world.deps;
    onTestFinished(() => void Object.assign(world.deps, { dns }));
    world.deps.dns = async (asked, type, signal) =>
      asked === name && type === "TXT"
        ? { name, type, resolver: "none", kind: "nxdomain" }
        : dns(asked, type, signal);
    expect((await verify(made)).dmarc.check.fault).toBe("proxied_cname");
  });

  test("of the registered domain needs the consent of recipients for that domain", async () => {
    const { body } = await world.api("POST", "/api/domains", { token, body: { name: "a.parent.example" } });
    const made = body as unknown as Domain;
    zone.set("_dmarc.parent.example", "TXT", "v=DMARC1; p=none; rua=mailto:a@reports.example");
    zone.set("a.parent.example._report._dmarc.reports.example", "TXT", "v=DMARC1");
    expect((await verify(made)).dmarc.check).toMatchObject({
      asked_name: "_dmarc.parent.example",
      fault: "dmarc_report_unauthorized",
      advice: expect.stringContaining("parent.example._report._dmarc.reports.example"),
    });
  });
});
