import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProviderName } from "#server/services/imports/providers/provider";
import { type WriteWatch, watchWrites } from "../../support/database/write-watch";
import { installationSecret } from "../../support/deps";
import { runCommand } from "../../support/processes/command-line";
import { type HttpSink, startHttpSink } from "../../support/servers/http-sink";
import { createWorld, type World } from "../../support/world";

/*
 * Documents in the shapes that the sources in server/services/imports/providers document, written for these
 * tests.
 */

const json = (...documents: unknown[]) => documents.map((each) => JSON.stringify(each, null, 2)).join("\n");

const FILES: {
  title: string;
  from: ProviderName;
  text: string;
  created: Record<string, unknown>[];
  skipped?: Record<string, string>;
}[] = [
  {
    title: "SendGrid: authenticated domains and branded links",
    from: "sendgrid",
    text: json(
      [
        {
          id: 1,
          user_id: 7,
          domain: "sg.example",
          subdomain: "em1234",
          username: "u",
          ips: ["192.0.2.1"],
          custom_spf: false,
          default: true,
          legacy: false,
          automatic_security: true,
          valid: true,
          dns: {
            mail_cname: { host: "em1234.sg.example", type: "cname", data: "u7.wl.sendgrid.net", valid: true },
          },
        },
      ],
      [
        {
          id: 2,
          domain: "sg.example",
          subdomain: "url99",
          default: true,
          valid: true,
          dns: { domain_cname: { host: "url99.sg.example" } },
        },
      ],
    ),
    created: [
      {
        name: "sg.example",
        custom_return_path: "em1234",
        tracking_subdomain: "url99",
        not_mapped: ["1 dedicated IP addresses"],
      },
    ],
  },
  {
    title: "Postmark: a list and the details of one domain",
    from: "postmark",
    text: json(
      {
        TotalCount: 2,
        Domains: [
          { Name: "pm.example", ID: 1, DKIMVerified: true },
          { Name: "Other-pm.example", ID: 2 },
        ],
      },
      {
        Name: "pm.example",
        ID: 1,
        ReturnPathDomain: "pm-bounces.pm.example",
        ReturnPathDomainCNAMEValue: "pm.mtasv.net",
      },
    ),
    created: [
      { name: "pm.example", custom_return_path: "pm-bounces" },
      { name: "other-pm.example", custom_return_path: null },
    ],
  },
  {
    title: "Amazon SES: identities, and the MAIL FROM domain of one",
    from: "ses",
    text: json(
      {
        EmailIdentities: [
          { IdentityType: "DOMAIN", IdentityName: "ses.example", SendingEnabled: true },
          { IdentityType: "EMAIL_ADDRESS", IdentityName: "ann@ses.example", SendingEnabled: true },
        ],
      },
      {
        IdentityType: "DOMAIN",
        VerifiedForSendingStatus: true,
        MailFromAttributes: { MailFromDomain: "bounce.ses.example", MailFromDomainStatus: "SUCCESS" },
      },
      { IdentityType: "EMAIL_ADDRESS", VerifiedForSendingStatus: true },
    ),
    created: [{ name: "ses.example", custom_return_path: "bounce" }],
    skipped: { "ann@ses.example": "It is an address. Add its domain instead." },
  },
  {
    title: "Mailgun: domains with a tracking host, and a sandbox",
    from: "mailgun",
    text: json({
      total_count: 2,
      items: [
        {
          id: "1",
          name: "mg.mailgun.example",
          state: "active",
          type: "custom",
          web_prefix: "email",
          web_scheme: "https",
          require_tls: true,
          spam_action: "tag",
          wildcard: false,
        },
        { id: "2", name: "sandbox1.mailgun.org", state: "active", type: "sandbox", web_prefix: "email" },
      ],
    }),
    created: [
      {
        name: "mg.mailgun.example",
        custom_return_path: null,
        tracking_subdomain: "email",
        tls: "enforced",
        not_mapped: ["spam filter for received email"],
      },
    ],
    skipped: { "sandbox1.mailgun.org": "It is a sandbox domain of Mailgun." },
  },
  {
    title: "Resend: a domain with its records",
    from: "resend",
    text: json({
      object: "domain",
      id: "d1",
      name: "news.rs.example",
      status: "verified",
      region: "eu-west-1",
      capabilities: { sending: "enabled", receiving: "disabled" },
      open_tracking: true,
      click_tracking: false,
      tracking_subdomain: "links",
      records: [
        {
          record: "SPF",
          name: "out.news",
          type: "MX",
          value: "feedback-smtp.eu-west-1.amazonses.com",
          ttl: "Auto",
          status: "verified",
        },
        {
          record: "DKIM",
          name: "resend._domainkey.news",
          type: "TXT",
          value: "p=…",
          ttl: "Auto",
          status: "verified",
        },
      ],
    }),
    created: [
      {
        name: "news.rs.example",
        custom_return_path: "out",
        tracking_subdomain: "links",
        open_tracking: true,
        click_tracking: false,
        not_mapped: ["region eu-west-1"],
      },
    ],
  },
];

let world: World;
let watch: WriteWatch;
const env = () => ({
  DATABASE_URL: world.databaseUrl,
  BACKSTAMP_SECRET: installationSecret,
  BACKSTAMP_HOSTNAME: "mx.example.org",
  BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
});
beforeAll(async () => {
  world = await createWorld();
  watch = await watchWrites(world.hot);
});
afterAll(() => world.close());

const run = (args: string[], input = "", more = {}) =>
  runCommand(["import", "domains", ...args], { env: { ...env(), ...more }, input });

async function report(args: string[], input = "", more = {}) {
  const { code, stdout, stderr } = await run([...args, "--json"], input, more);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe.each(FILES)("$title", ({ from, text, created, skipped = {} }) => {
  test("the domains are added without being verified, once, and a dry run writes nothing", async () => {
    await watch.since();
    const planned = await report(["-", "--from", from, "--dry-run"], text);
    expect(await watch.since()).toEqual([]);
    const reasons = Object.entries(skipped).map(([name, reason]) => ({ name, reason }));
    expect(planned).toMatchObject({ dry_run: true, created: created.length, existing: 0, problems: reasons });

    const done = await report(["-", "--from", from], text);
    const added = done.domains.filter(({ outcome }: { outcome: string }) => outcome === "created");
    expect(added).toMatchObject(created);
    type Added = { records: { type: string; host: string }[] };
    expect({
      ...done,
      dry_run: true,
      domains: done.domains.map((each: Added) => ({ ...each, records: [] })),
    }).toEqual(planned);
    for (const { name, custom_return_path, records } of added) {
      const end = custom_return_path ?? "send";
      expect(records).toContainEqual(
        expect.objectContaining({ type: "MX", host: `${end}.${name}`, value: "mx.example.org" }),
      );
      expect(records.some(({ host }: { host: string }) => host.endsWith(`._domainkey.${name}`))).toBe(true);
      const rows = await world.hot`select status, team_id from domains where name = ${name}`;
      expect(rows).toEqual([{ status: "not_started", team_id: world.id }]);
    }

    await watch.since();
    const again = await report(["-", "--from", from], text);
    expect(again).toMatchObject({ created: 0, existing: created.length, skipped: reasons.length });
    expect(await watch.since()).toEqual([]);
  });
});

test("the records to publish and what is not mapped are printed", async () => {
  const text = json({
    name: "print.example",
    region: "eu-west-1",
    tracking_subdomain: "a.b",
    records: [{ record: "SPF", name: "out.sub" }],
  });
  const { stdout } = await run(["-", "--from", "resend"], text);
  expect(stdout).toContain("Added 1 of 1 domains to team First.");
  expect(stdout).toMatch(/^print\.example: new, not verified, return path out$/m);
  expect(stdout).toMatch(/^ {2}Not mapped: region eu-west-1; tracking subdomain a\.b$/m);
  expect(stdout).toMatch(/^ {2}MX +out\.print\.example +10 +mx\.example\.org$/m);
  expect(stdout).toMatch(/^ {2}TXT +\S+\._domainkey\.print\.example +p=|v=DKIM1/m);
  expect(stdout).toContain("domain show print.example --look");
});

test("a document of another kind is reported by line, and a public suffix is skipped", async () => {
  const text = json({ name: "co.uk", region: "us-east-1" }, { Suppressions: [] }, "{");
  const done = await report(["-", "--from", "resend"], text.replace(/"\{"$/, "{"));
  expect(done).toMatchObject({ read: 1, created: 0, skipped: 1 });
  expect(done.problems).toMatchObject([
    { line: 5, reason: "This document has no domains of Resend." },
    { line: 8, reason: "This is not valid JSON." },
    { name: "co.uk", reason: expect.stringContaining("public suffix") },
  ]);
  expect((await run(["-", "--from", "resend"], "name\nx.example")).stderr).toContain("The file is not JSON");
});

describe("from the API", () => {
  let api: HttpSink;
  const respond: Record<string, unknown> = {
    "/domains?count=500&offset=0": { TotalCount: 1, Domains: [{ Name: "api-pm.example", ID: 5 }] },
    "/domains/5": { Name: "api-pm.example", ID: 5, ReturnPathDomain: "back.api-pm.example" },
    "/domains?limit=100": { object: "list", has_more: false, data: [{ id: "d/9", name: "api-rs.example" }] },
    "/domains/d%2F9": { object: "domain", id: "d/9", name: "api-rs.example", region: "us-east-1" },
    "/v4/domains?limit=1000&skip=0": {
      total_count: 1,
      items: [{ name: "api-mg.example", web_prefix: "email" }],
    },
    "/v3/whitelabel/domains?limit=500&offset=0": [{ domain: "api-sg.example", subdomain: "em1", dns: {} }],
    "/v3/whitelabel/links?limit=500&offset=0": [
      { domain: "api-sg.example", subdomain: "u1", dns: { owner_cname: {} } },
    ],
  };
  beforeAll(async () => {
    api = await startHttpSink(({ path }) => ({
      status: path in respond ? 200 : 404,
      body: JSON.stringify(respond[path]),
    }));
  });
  afterAll(() => api.close());

  test.each([
    ["postmark", "x-postmark-account-token", "k", { custom_return_path: "back" }],
    ["resend", "authorization", "Bearer k", { not_mapped: ["region us-east-1"] }],
    ["mailgun", "authorization", `Basic ${btoa("api:k")}`, { tracking_subdomain: "email" }],
    ["sendgrid", "authorization", "Bearer k", { custom_return_path: "em1", tracking_subdomain: "u1" }],
  ])("%s", async (from, header, value, domain) => {
    const key = { [`${from.toUpperCase()}_API_KEY`]: "k" };
    const done = await report(
      ["--from", from, "--dry-run", "--api-url", `http://127.0.0.1:${api.port}`],
      "",
      key,
    );
    expect(done).toMatchObject({ created: 1, domains: [{ outcome: "created", ...domain }] });
    expect(api.received.at(-1)?.headers[header]).toBe(value);
  });

  test.each([
    ["sendgrid", "/v3/whitelabel/domains?limit=500&offset=0", { id: 77, subdomain: "em2" }, "77"],
    ["resend", "/domains?limit=100", { name: "without-id.example" }, "without-id.example"],
  ])(
    "%s: an entry of an unknown form is a problem with its name, and the others are imported",
    async (from, path, odd, name) => {
      const list = respond[path] as { data: unknown[] } | unknown[];
      const entries = Array.isArray(list) ? list : list.data;
      entries.push(odd);
      const done = await report(
        ["--from", from, "--dry-run", "--api-url", `http://127.0.0.1:${api.port}`],
        "",
        { [`${from.toUpperCase()}_API_KEY`]: "k" },
      ).finally(() => entries.pop());
      expect(done).toMatchObject({
        created: 1,
        problems: [{ name, reason: expect.stringMatching(/^This document has no domains of/) }],
      });
    },
  );
});
