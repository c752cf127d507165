import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inStrings, type Listed, publish, startZone } from "../support/servers/zone";
import { openWorld } from "../support/world";

const mailHost = "mail.backstamp.example";

type Check = {
  asked_name: string;
  asked_type: string;
  resolver: string;
  expected: string | null;
  answers: string[];
  fault: string | null;
  advice: string | null;
};
type Seen = Listed & { purpose: string; name: string; status: string; check: Check | null };
type Domain = {
  id: string;
  status: string;
  records: Seen[];
  dmarc: Seen;
  also_checked: { purpose: string; status: string; check: Check }[];
};

const { zone, peer } = await startZone();
const world = await openWorld({
  dnsServers: [peer],
  outside: { nameServers: [peer] },
  names: { mailHost, returnPathDomain: null, webHost: "app.backstamp.example" },
});
const { token } = await world.key();
beforeAll(async () => {
  ignoreSilentNames();
});
afterAll(() => peer.close());
beforeEach(() => {
  zone.clear();
  silent.clear();
});

/** Names whose queries end without a response. How long they wait is tested with the DNS client. */
const silent = new Set<string>();
function ignoreSilentNames(): void {
  const query = world.deps.dns;
  world.deps.dns = async (name, type, signal) =>
    silent.has(name)
      ? { name, type, kind: "timeout", resolver: `127.0.0.1:${peer.port}` }
      : query(name, type, signal);
}

let count = 0;
/** A new domain with all its records and a DMARC record published. */
async function publishedDomain(name = `d${++count}.example`): Promise<Domain> {
  const body = { name, tracking_subdomain: "links" };
  const made = await world.api("POST", "/api/domains", { token, body });
  expect(made.status).toBe(201);
  const domain = made.body as unknown as Domain;
  publish(zone, domain.records);
  zone.set(`_dmarc.${name}`, "TXT", "v=DMARC1; p=none;");
  return domain;
}

async function verify({ id }: Domain): Promise<Domain> {
  const { status, body } = await world.api("POST", `/api/domains/${id}/verify`, { token });
  expect(status).toBe(200);
  const { body: stored } = await world.api("GET", `/api/domains/${id}`, { token });
  expect(stored).toEqual(body);
  return body as unknown as Domain;
}

const pick = (domain: Domain, purpose: string): Seen => {
  const found = [...domain.records, { ...domain.dmarc, purpose: "dmarc" }].find(
    (record) => record.purpose === purpose,
  );
  if (!found) throw new Error(`No record for ${purpose}`);
  return found;
};

test("correctly published records verify the domain, and each check names its resolver", async () => {
  const made = await publishedDomain();
  expect(made.status).toBe("not_started");
  expect(made.records.map(({ status }) => status)).toEqual(made.records.map(() => "not_started"));
  const domain = await verify(made);
  expect(domain.status).toBe("verified");
  for (const record of [...domain.records, domain.dmarc]) {
    expect(record).toMatchObject({
      status: "verified",
      check: {
        asked_name: record.host,
        asked_type: record.type,
        resolver: `127.0.0.1:${peer.port}`,
        expected: record.value,
        fault: null,
        advice: null,
      },
    });
    const value = record.type === "MX" ? `10 ${record.value}` : record.value;
    expect(record.check?.answers).toEqual([value]);
  }
});

test("a key that needs DNS over TCP is read", async () => {
  const made = await publishedDomain();
  const dkim = pick(made, "dkim");
  const answers = [{ name: dkim.host, type: "TXT" as const, ttl: 0, data: inStrings(dkim.value) }];
  zone.fail(dkim.host, { answers, isTruncated: true });
  expect((await verify(made)).status).toBe("verified");
  expect(peer.asked).toContainEqual({ name: dkim.host, type: "TXT", over: "tcp" });
});

/** Breaks one record of an otherwise correct domain. */
type Break = (record: Seen, domain: string) => unknown;
const replaced =
  (change: (value: string) => (string | string[])[]): Break =>
  ({ host, value }) =>
    zone.set(host, "TXT", ...change(value));
const elsewhere =
  (nameOf: (record: Seen, domain: string) => string): Break =>
  (record, domain) => {
    zone.remove(record.host, record.type);
    publish(zone, [{ ...record, host: nameOf(record, domain) }]);
  };
const doubled = elsewhere(({ host }, domain) => `${host}.${domain}`);
const halves = (value: string) => [value.slice(0, 200), value.slice(200)];

/** The status that a fault gives to its record. */
const statusOf = (fault: string): string => {
  if (fault === "missing") return "pending";
  return fault === "servfail" || fault === "timeout" ? "temporary_failure" : "failed";
};

const FAULTS: [purpose: string, fault: string, what: string, breakRecord: Break][] = [
  ["dkim", "missing", "nothing there", ({ host }) => zone.remove(host, "TXT")],
  ["dkim", "wrong_value", "another key", replaced((v) => [inStrings(v.replace(/.{9}$/, "AAAAAAAAA"))])],
  ["dkim", "wrong_value", "a revoked key", replaced(() => ["v=DKIM1; p="])],
  ["dkim", "doubled_name", "the name twice", doubled],
  ["dkim", "quoted_value", "quotes around it", replaced((v) => [inStrings(`"${v}"`)])],
  ["dkim", "split_value", "quotes within", replaced((v) => [inStrings(halves(v).join('" "'))])],
  ["dkim", "split_value", "two records", replaced((v) => halves(v))],
  ["dkim", "truncated_value", "its beginning", replaced((v) => [v.slice(0, 255)])],
  ["dkim", "several_records", "an old key too", replaced((v) => [inStrings(v), "v=DKIM1; p=AAAA"])],
  ["dkim", "servfail", "a server's failure", ({ host }) => zone.fail(host, { rcode: "SERVFAIL" })],
  ["dkim", "timeout", "silence", ({ host }) => silent.add(host)],
  ["ownership", "missing", "only foreign texts", replaced(() => ["google-site-verification=abc"])],
  ["ownership", "split_value", "a blank within", replaced((v) => [v.replace("=", "= ")])],
  ["mx", "missing", "nothing there", ({ host }) => zone.remove(host, "MX")],
  [
    "mx",
    "wrong_value",
    "another host",
    ({ host }) => zone.set(host, "MX", { preference: 1, exchange: "mx.else.example" }),
  ],
  ["spf", "missing", "no SPF among texts", replaced(() => ["hello"])],
  ["spf", "wrong_value", "the servers of another owner", replaced(() => ["v=spf1 a:mx.else.example ~all"])],
  ["spf", "wrong_value", "our servers excluded", replaced(() => [`v=spf1 -a:${mailHost} ~all`])],
  ["spf", "several_spf", "two records", replaced((v) => [v, "v=spf1 mx -all"])],
  ["spf", "split_value", "a blank lost at the joint", replaced(() => [["v=spf1", `a:${mailHost}`, "~all"]])],
  [
    "spf",
    "too_many_lookups",
    "eleven includes",
    replaced((v) => [`${v.replace(" ~all", "")} ${"include:x.example ".repeat(11)}~all`]),
  ],
  ["tracking", "missing", "nothing there", ({ host }) => zone.remove(host, "CNAME")],
  ["tracking", "wrong_value", "another target", ({ host }) => zone.set(host, "CNAME", "else.example")],
  [
    "tracking",
    "proxied_cname",
    "a proxy's addresses",
    ({ host }) => {
      zone.remove(host, "CNAME");
      zone.set(host, "A", "192.0.2.10");
    },
  ],
  [
    "ownership",
    "proxied_cname",
    "a CNAME in its place",
    ({ host }) => {
      zone.remove(host, "TXT");
      zone.set(host, "CNAME", "proxy.example");
    },
  ],
  ["dmarc", "dmarc_missing", "no policy", ({ host }) => zone.remove(host, "TXT")],
  ["dmarc", "doubled_name", "the name twice", doubled],
  ["dmarc", "several_dmarc", "two policies", replaced((v) => [v, "v=DMARC1; p=reject"])],
  ["dmarc", "dmarc_invalid", "no p", replaced(() => ["v=DMARC1; rua=mailto:a@example.com"])],
  ["dmarc", "dmarc_unaligned", "strict SPF", replaced(() => ["v=DMARC1; p=reject; aspf=s"])],
];

/** The nth fault of each record, so that one domain has as many faults at once as there are records. */
const ROUNDS = FAULTS.filter(([purpose]) => purpose === "dkim").map((_, nth) =>
  ["dkim", "ownership", "mx", "spf", "tracking", "dmarc"].flatMap((purpose) =>
    FAULTS.filter((fault) => fault[0] === purpose).slice(nth, nth + 1),
  ),
);

describe("a fault has a name and advice", () => {
  test.each(ROUNDS.map((faults) => [faults.map(([purpose, fault]) => `${purpose} ${fault}`).join(), faults]))(
    "%s",
    async (_, given) => {
      const faults = given as typeof FAULTS;
      const made = await publishedDomain();
      const name = made.dmarc.host.replace("_dmarc.", "");
      for (const [purpose, , , breakRecord] of faults) breakRecord(pick(made, purpose), name);
      const domain = await verify(made);
      for (const [purpose, fault, what] of faults) {
        const { check, status: actual, host, value } = pick(domain, purpose);
        expect({ purpose, what, status: actual, fault: check?.fault }).toEqual({
          purpose,
          what,
          status: statusOf(fault),
          fault,
        });
        expect(check?.advice).toMatch(/^[A-Z].{20,}\S$/s);
        expect(check).toMatchObject({
          asked_name: host,
          resolver: `127.0.0.1:${peer.port}`,
          expected: value,
        });
      }
      const broken = new Set(faults.map(([purpose]) => purpose));
      for (const { purpose, status } of domain.records)
        expect({ purpose, isVerified: status === "verified" }).toEqual({
          purpose,
          isVerified: !broken.has(purpose),
        });
      expect(domain.status).not.toBe("verified");
    },
  );

  test.each([
    ["tracking", "another target", "verified"],
    ["dmarc", "no policy", "verified"],
    ["mx", "another host", "partially_failed"],
    ["spf", "no SPF among texts", "partially_verified"],
  ])("of only %s (%s) leaves the domain %s", async (purpose, what, status) => {
    const made = await publishedDomain();
    const fault = FAULTS.find((each) => each[0] === purpose && each[2] === what);
    fault?.[3](pick(made, purpose), made.dmarc.host.replace("_dmarc.", ""));
    expect((await verify(made)).status).toBe(status);
  });

  test("a record that a DNS provider put below the parent domain is detected at its actual name", async () => {
    const made = await publishedDomain("mail.corp.example");
    const dkim = pick(made, "dkim");
    expect(dkim).toMatchObject({
      name: "backstamp._domainkey.mail",
      host: "backstamp._domainkey.mail.corp.example",
    });
    for (const host of [`${dkim.host}.corp.example`, `${dkim.name}.mail.corp.example`]) {
      zone.remove(dkim.host, "TXT");
      publish(zone, [{ ...dkim, host }]);
      const { check } = pick(await verify(made), "dkim");
      expect(check).toMatchObject({ fault: "doubled_name", advice: expect.stringContaining(host) });
      zone.remove(host, "TXT");
    }
  });

  test("the DMARC policy of the registered domain applies to subdomains, and nothing is aligned without authentication", async () => {
    const made = await publishedDomain("news.firm.example");
    zone.remove("_dmarc.news.firm.example", "TXT");
    zone.set("_dmarc.firm.example", "TXT", "v=DMARC1; p=none; sp=reject");
    const { dmarc } = await verify(made);
    expect(dmarc).toMatchObject({ status: "verified", check: { asked_name: "_dmarc.firm.example" } });
    for (const purpose of ["dkim", "spf"]) zone.remove(pick(made, purpose).host, "TXT");
    const again = await verify(made);
    expect(again.dmarc.check).toMatchObject({
      fault: "dmarc_unaligned",
      advice: expect.stringContaining("p=reject"),
    });
  });

  test("SPF at the domain itself is checked for invalid records but is not required", async () => {
    const made = await publishedDomain();
    const name = made.dmarc.host.replace("_dmarc.", "");
    zone.set(name, "TXT", "v=spf1 include:a.example -all", "v=spf1 mx -all");
    const domain = await verify(made);
    expect(domain.status).toBe("verified");
    expect(domain.also_checked).toEqual([
      expect.objectContaining({
        purpose: "domain_spf",
        status: "failed",
        check: expect.objectContaining({ fault: "several_spf", asked_name: name, expected: null }),
      }),
    ]);
  });
});
