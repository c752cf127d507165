import { z } from "zod";
import { type ProviderCall, pagesMax } from "../provider-call";
import { type FoundDomain, type FoundTemplate, foundDomain, foundTemplate } from "./found";
import { firstOf, type List, type Provider, type Row, readTime, unreadable } from "./provider";

/*
 * Mailgun. Shapes after the API reference, read on 2026-11-23:
 * https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/bounces
 * https://documentation.mailgun.com/docs/mailgun/api-reference/openapi-final/tag/Unsubscribe
 * https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/domains/get-v4-domains
 * https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/templates
 * Mailgun suppresses per domain, Backstamp per team. An unsubscribe names tags; `*` is all email of the
 * domain. CSV files have the fields of the API: address, code, error, created_at; address, tags, created_at;
 * address, created_at.
 */
const pageRows = 1_000;

const SuppressedRow = z.object({ address: z.string(), createdat: z.unknown().optional() });
const Tags = z.union([z.array(z.string()), z.string().transform((text) => [text])]).catch([]);
const ListDocument = z.object({
  items: z.array(z.unknown()),
  paging: z.object({ next: z.string().optional() }).optional(),
});
const Domain = z.object({
  name: z.string(),
  type: z.string().nullish(),
  web_prefix: z.string().nullish(),
  require_tls: z.boolean().nullish(),
  spam_action: z.string().nullish(),
  wildcard: z.boolean().nullish(),
});
const Domains = z.object({ items: z.array(Domain), total_count: z.number() });
const DomainDetails = z.object({ domain: Domain }).transform(({ domain }) => ({ items: [domain] }));

const templatePageRows = 100;
const Template = z.object({
  name: z.string(),
  id: z.string(),
  description: z.string().nullish(),
  version: z
    .object({
      template: z.string().nullish(),
      engine: z.string().nullish(),
      headers: z.record(z.string(), z.string()).nullish(),
    })
    .nullish(),
});

function describeTemplate({ name, id, version }: z.infer<typeof Template>): FoundTemplate {
  const headers = new Map(
    Object.entries(version?.headers ?? {}).map(([field, value]) => [field.toLowerCase(), value]),
  );
  const replyTo = headers.get("reply-to");
  return foundTemplate({
    id,
    name,
    alias: name,
    subject: headers.get("subject") ?? null,
    html: version?.template ?? null,
    sender: headers.get("from") ?? null,
    replyTo: replyTo ? [replyTo] : [],
  });
}

const describeDomain = ({
  name,
  type,
  web_prefix,
  require_tls,
  spam_action,
  wildcard,
}: z.infer<typeof Domain>): FoundDomain =>
  foundDomain(name, {
    trackingLabel: web_prefix || null,
    isTlsRequired: require_tls ?? null,
    exclusion: type === "sandbox" ? "It is a sandbox domain of Mailgun." : null,
    notMapped: [
      ...(spam_action && spam_action !== "disabled" ? ["spam filter for received email"] : []),
      ...(wildcard ? ["wildcard for subdomains"] : []),
    ],
  });

const PATHS = { complaints: "complaints", bounces: "bounces", unsubscribes: "unsubscribes" } as const;

/** The list that a row shows by its fields; a complaint has only an address and a time. */
function listOf(row: Row, list: List | null): List | null {
  if (row.tags === undefined) return row.code === undefined && row.error === undefined ? list : "bounces";
  const tags = Tags.parse(row.tags)
    .flatMap((tag) => tag.replace(/[[\]'"]/g, "").split(/[\s,;]+/))
    .filter(Boolean);
  return tags.length === 0 || tags.includes("*") ? "unsubscribes" : "group-unsubscribes";
}

export const mailgun: Provider = {
  name: "mailgun",
  label: "Mailgun",
  api: {
    urls: { us: "https://api.mailgun.net", eu: "https://api.eu.mailgun.net" },
    headersOf: (key) => ({ authorization: `Basic ${Buffer.from(`api:${key}`).toString("base64")}` }),
  },
  suppressions: {
    rowsOf: firstOf(
      ListDocument.transform(({ items }) => items),
      z.array(z.unknown()),
    ),
    unmarked: ["complaints"],
    read: (row, list) => {
      const shown = listOf(row, list);
      const read = SuppressedRow.safeParse(row);
      if (!read.success) return unreadable(row, "The row has no `address`.");
      if (shown === null) return { needsList: true };
      return { address: read.data.address, list: shown, at: readTime(read.data.createdat) };
    },
    fetch: async function* (call, domain) {
      for await (const name of listDomainNames(call, domain))
        for (const [list, path] of Object.entries(PATHS) as [keyof typeof PATHS, string][])
          for await (const rows of fetchAll(
            call,
            `/v3/${encodeURIComponent(name)}/${path}?limit=${pageRows}`,
          ))
            yield { list, rows };
    },
  },
  domains: {
    read: (document) =>
      z.union([Domains, DomainDetails]).safeParse(document).data?.items.map(describeDomain) ?? null,
    fetch: (call) => fetchDomains(call),
  },
  templates: {
    read: (document) =>
      z
        .union([
          z.object({ items: z.array(Template) }),
          z.object({ template: Template }).transform(({ template }) => ({ items: [template] })),
        ])
        .safeParse(document)
        .data?.items.map(describeTemplate) ?? null,
    fetch: async function* (call, domain) {
      for await (const name of listDomainNames(call, domain)) {
        const path = `/v3/${encodeURIComponent(name)}/templates`;
        for await (const rows of fetchAll(call, `${path}?limit=${templatePageRows}`))
          for (const row of rows) {
            const { data } = z.object({ name: z.string() }).safeParse(row);
            yield data ? await call(`${path}/${encodeURIComponent(data.name)}?active=yes`, z.unknown()) : row;
          }
      }
    },
  },
  tags: {
    blocks: "handlebars",
    own: new Set(),
    other: /%(?:recipient[\w.]*|(?:tag_|mailing_list_)?unsubscribe_(?:url|email))%/g,
    withFallback: null,
  },
};

/** Follows `paging.next` until a page is empty. */
export async function* fetchAll(call: ProviderCall, first: string): AsyncGenerator<unknown[]> {
  for (let page = 0, next: string | undefined = first; page < pagesMax && next !== undefined; page++) {
    const document: z.infer<typeof ListDocument> = await call(next, ListDocument);
    if (document.items.length === 0) return;
    yield document.items;
    next = document.paging?.next;
  }
}

async function* fetchDomains(call: ProviderCall): AsyncGenerator<z.infer<typeof Domains>> {
  for (let page = 0; page < pagesMax; page++) {
    const domains = await call(`/v4/domains?limit=${pageRows}&skip=${page * pageRows}`, Domains);
    yield domains;
    if (domains.items.length < pageRows) break;
  }
}

async function* listDomainNames(call: ProviderCall, domain: string | null): AsyncGenerator<string> {
  if (domain !== null) return yield domain;
  for await (const { items } of fetchDomains(call)) for (const { name } of items) yield name;
}
