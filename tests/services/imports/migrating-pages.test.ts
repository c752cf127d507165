import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PROVIDERS } from "#server/services/imports/providers";
import type { FoundDomain, FoundTemplate } from "#server/services/imports/providers/found";
import {
  LISTS,
  type List,
  PROVIDER_NAMES,
  type ProviderName,
} from "#server/services/imports/providers/provider";

/*
 * The tables of mapped fields in the pages on migrating are carried out on documents written for this test.
 */

const root = new URL("../../../", import.meta.url);
const readText = (path: string) => readFileSync(new URL(path, root), "utf8");

/** The rows of the table below a heading, without its two first lines. */
function tableOf(page: string, heading: string): string[][] {
  const [, section = ""] = page.split(`\n### ${heading}\n`);
  const lines = (section.split(/\n##/)[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

/** The texts in backticks. */
const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);

/** A copy of a document with one field replaced: by `value`, or else by another value of the same kind. */
function change(document: unknown, path: string, value?: string): unknown {
  const copy = structuredClone(document);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const parent = keys.reduce<Record<string, unknown>>(
    (at, key) => at[key] as Record<string, unknown>,
    copy as Record<string, unknown>,
  );
  expect(Object.hasOwn(parent, last), `the sample has no ${path}`).toBe(true);
  const before = parent[last];
  parent[last] = value ?? another(before);
  return copy;
}

const another = (value: unknown): unknown => {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value === 1 ? 0 : value + 1;
  if (typeof value === "string") return value === "published" ? "draft" : `x${value}`;
  return [];
};

/** The fields that a change of the document changes. */
function changed<T extends object>(
  read: (document: unknown) => T[] | null,
  before: unknown,
  after: unknown,
): string[] {
  const [a, b] = [before, after].map((document) => relative(read(document)?.[0]));
  if (a === undefined || b === undefined) throw new Error("the document cannot be read");
  return Object.keys(a).filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]));
}

/** With the first label of the return path, which is what is kept of it. */
function relative(found: object | undefined): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> | undefined = found && { ...found };
  if (typeof fields?.returnPathHost === "string") fields.returnPathHost = fields.returnPathHost.split(".")[0];
  return fields;
}

const DOMAIN_FIELDS: Partial<Record<keyof FoundDomain, string>> = {
  name: "`name`",
  returnPathHost: "`custom_return_path`",
  trackingLabel: "`tracking_subdomain`",
  openTracking: "`open_tracking`",
  clickTracking: "`click_tracking`",
  isTlsRequired: "`tls`",
  notMapped: "not mapped",
  exclusion: "skipped",
};

const TEMPLATE_FIELDS: Partial<Record<keyof FoundTemplate, string>> = {
  name: "`name`",
  alias: "`alias`",
  subject: "`subject`",
  html: "`html`",
  text: "`text`",
  sender: "`from`",
  replyTo: "`reply_to`",
  fallbacks: "`variables`",
  isPublished: "`status`",
  layout: "`layout`",
};

const DOMAINS: Record<ProviderName, unknown> = {
  resend: {
    name: "a.example",
    region: "us-east-1",
    open_tracking: true,
    click_tracking: true,
    tracking_subdomain: "t",
    tls: "enforced",
    records: [{ record: "SPF", name: "send" }],
  },
  sendgrid: [{ domain: "a.example", subdomain: "em1", ips: ["192.0.2.1"], custom_spf: true, dns: {} }],
  postmark: { Name: "a.example", ID: 1, ReturnPathDomain: "pm.a.example" },
  ses: { EmailIdentities: [{ IdentityName: "a.example", IdentityType: "DOMAIN" }] },
  mailgun: {
    total_count: 1,
    items: [
      {
        name: "a.example",
        type: "custom",
        web_prefix: "email",
        require_tls: true,
        spam_action: "tag",
        wildcard: true,
      },
    ],
  },
};

const TEMPLATES: Record<ProviderName, unknown> = {
  resend: {
    id: "1",
    name: "N",
    status: "published",
    alias: "a",
    subject: "S",
    html: "H",
    text: "T",
    from: "a@a.example",
    reply_to: ["b@a.example"],
    variables: [{ key: "K", fallback_value: "f" }],
  },
  sendgrid: {
    id: "d-1",
    name: "N",
    generation: "dynamic",
    versions: [{ active: 1, subject: "S", html_content: "H", plain_content: "T" }],
  },
  postmark: {
    TemplateId: 1,
    Name: "N",
    Alias: "a",
    Active: true,
    LayoutTemplate: "l",
    Subject: "S",
    HtmlBody: "H",
    TextBody: "T",
  },
  ses: { TemplateName: "N", TemplateContent: { Subject: "S", Html: "H", Text: "T" } },
  mailgun: {
    template: {
      id: "1",
      name: "n",
      version: { template: "H", headers: { Subject: "S", From: "a@a.example", "Reply-To": "b@a.example" } },
    },
  },
};

describe.each(PROVIDER_NAMES)("the page on migrating from %s", (name) => {
  const page = readText(`.github/migrating/${name}.md`);
  const { suppressions, domains, templates } = PROVIDERS[name];
  const pathOf = (cell: string | undefined) =>
    name === "sendgrid" && !cell?.includes(".") ? `0.${cell}` : (cell ?? "");

  test("every row on suppressions is what the importer reads", () => {
    const table = tableOf(page, "Suppressions");
    expect(table.length).toBeGreaterThan(1);
    for (const [given, origin, listsOnly] of table) {
      const words = quoted(given);
      const option = words.find((word) => word.startsWith("--list "))?.slice("--list ".length) as
        | List
        | undefined;
      const row: Record<string, unknown> = {
        email: "a@a.example",
        emailaddress: "a@a.example",
        address: "a@a.example",
      };
      if (option === undefined)
        for (let at = 0; at < words.length; at += 2)
          row[(words[at] ?? "").toLowerCase().replace(/_/g, "")] =
            words[at + 1] === "true" ? true : words[at + 1];
      const read = suppressions.read(row, option ?? null);
      if (!("list" in read)) throw new Error(`${given}: ${JSON.stringify(read)}`);
      const { cause, listsOnly: isForLists } = LISTS[read.list];
      expect([given, `\`${cause === "unsubscribe" ? "manual" : cause}\``, String(isForLists)]).toEqual([
        given,
        origin,
        listsOnly,
      ]);
    }
    const documented = table.flatMap(([given]) => quoted(given)).filter((word) => word.startsWith("--list "));
    expect(documented.map((word) => word.slice("--list ".length)).sort()).toEqual(
      [...suppressions.unmarked].sort(),
    );
  });

  test.each([
    ["Domains", domains.read as (document: unknown) => object[] | null, DOMAINS[name], DOMAIN_FIELDS],
    ["Templates", templates.read as (document: unknown) => object[] | null, TEMPLATES[name], TEMPLATE_FIELDS],
  ])(
    "every row on %s changes the field that it names, and all fields are listed",
    (heading, read, sample, fields) => {
      const listed = new Set<string>();
      for (const [given, target = ""] of tableOf(page, heading)) {
        const [path, value] = quoted(given);
        const at = heading === "Domains" ? pathOf(path) : (path ?? "");
        const keys = changed(read, sample, change(sample, at, value)).filter((key) => key in fields);
        expect(keys.length, `${given} changes no field`).toBeGreaterThan(0);
        for (const key of keys) {
          expect(target, `${given} changes ${key}`).toContain(fields[key as keyof typeof fields]);
          listed.add(key);
        }
      }
      const [found = {}] = read(sample) ?? [];
      const filled = Object.entries(found).filter(
        ([key, value]) =>
          key in fields && value !== null && JSON.stringify(value) !== "[]" && JSON.stringify(value) !== "{}",
      );
      const constant = name === "mailgun" || name === "ses" ? ["isPublished"] : [];
      expect(filled.map(([key]) => key).filter((key) => !listed.has(key) && !constant.includes(key))).toEqual(
        [],
      );
    },
  );
});
