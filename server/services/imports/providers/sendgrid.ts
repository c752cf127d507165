import { z } from "zod";
import { pagesMax } from "../provider-call";
import { type FoundDomain, type FoundTemplate, foundDomain, foundTemplate } from "./found";
import { firstOf, type List, type Provider, readTime, unreadable } from "./provider";

/*
 * Twilio SendGrid. Shapes after the API reference, read on 2026-11-23:
 * https://www.twilio.com/docs/sendgrid/api-reference/bounces-api/retrieve-all-bounces
 * https://www.twilio.com/docs/sendgrid/api-reference/suppressions-global-suppressions/retrieve-all-global-suppressions
 * https://www.twilio.com/docs/sendgrid/api-reference/suppressions-suppressions/retrieve-all-suppressions
 * https://www.twilio.com/docs/sendgrid/api-reference/domain-authentication/list-all-authenticated-domains
 * https://www.twilio.com/docs/sendgrid/api-reference/link-branding/retrieve-all-branded-links
 * https://www.twilio.com/docs/sendgrid/api-reference/transactional-templates/retrieve-paged-transactional-templates
 * https://www.twilio.com/docs/sendgrid/for-developers/sending-email/using-handlebars
 * The console's CSV files have the columns of the API. A row of a bounce does not differ from a row of a
 * block, which SendGrid does not suppress, so a file is imported only with the name of its list.
 */
const pageRows = 500;

const SuppressedRow = z.object({
  email: z.string(),
  created: z.union([z.number(), z.string()]).nullish(),
  createdat: z.union([z.number(), z.string()]).nullish(),
});
const Rows = z.array(z.unknown());

const LISTED: readonly (readonly [List, string])[] = [
  ["complaints", "/v3/suppression/spam_reports"],
  ["bounces", "/v3/suppression/bounces"],
  ["invalid", "/v3/suppression/invalid_emails"],
  ["unsubscribes", "/v3/suppression/unsubscribes"],
];

/** Authenticated domains, and branded links, which only `owner_cname` and `domain_cname` tell apart. */
const DomainList = z.array(
  z.object({
    domain: z.string(),
    subdomain: z.string().nullish(),
    ips: z.array(z.string()).nullish(),
    custom_spf: z.boolean().nullish(),
    dns: z.record(z.string(), z.unknown()),
  }),
);

function describeDomain({
  domain,
  subdomain,
  ips,
  custom_spf,
  dns,
}: z.infer<typeof DomainList>[number]): FoundDomain {
  if ("domain_cname" in dns || "owner_cname" in dns)
    return foundDomain(domain, { trackingLabel: subdomain || null, isDetail: true });
  return foundDomain(domain, {
    returnPathHost: subdomain ? `${subdomain}.${domain}` : null,
    notMapped: [
      ...(ips && ips.length > 0 ? [`${ips.length} dedicated IP addresses`] : []),
      ...(custom_spf ? ["custom SPF"] : []),
    ],
  });
}

const Template = z.object({
  id: z.string(),
  name: z.string(),
  generation: z.string(),
  versions: z.array(
    z.object({
      active: z.number(),
      subject: z.string().nullish(),
      html_content: z.string().nullish(),
      plain_content: z.string().nullish(),
      generate_plain_content: z.boolean().nullish(),
    }),
  ),
});
const TemplatePage = z.object({
  result: z.array(Template),
  _metadata: z.object({ next: z.string().optional() }).optional(),
});

/** The active version, or else the first one, which is then a draft. */
function describeTemplate({ id, name, versions }: z.infer<typeof Template>): FoundTemplate {
  const active = versions.find(({ active }) => active === 1);
  const version = active ?? versions[0];
  return foundTemplate({
    id,
    name,
    alias: id,
    subject: version?.subject ?? null,
    html: version?.html_content ?? null,
    text: version?.generate_plain_content ? null : (version?.plain_content ?? null),
    isPublished: active !== undefined,
  });
}

export const sendgrid: Provider = {
  name: "sendgrid",
  label: "SendGrid",
  api: {
    urls: { us: "https://api.sendgrid.com", eu: "https://api.eu.sendgrid.com" },
    headersOf: (key) => ({ authorization: `Bearer ${key}` }),
  },
  suppressions: {
    rowsOf: firstOf(Rows),
    unmarked: ["bounces", "invalid", "complaints", "unsubscribes"],
    read: (row, list) => {
      const shown = row.groupid === undefined ? list : "group-unsubscribes";
      const read = SuppressedRow.safeParse(row);
      if (!read.success) return unreadable(row, "The row has no `email`.");
      if (shown === null) return { needsList: true };
      return {
        address: read.data.email,
        list: shown,
        at: readTime(read.data.created ?? read.data.createdat),
      };
    },
    fetch: async function* (call) {
      for (const [list, path] of LISTED)
        for (let page = 0; page < pagesMax; page++) {
          const rows = await call(`${path}?limit=${pageRows}&offset=${page * pageRows}`, Rows);
          yield { list, rows };
          if (rows.length < pageRows) break;
        }
      yield { list: "group-unsubscribes", rows: await call("/v3/asm/suppressions", Rows) };
    },
  },
  domains: {
    read: (document) => DomainList.safeParse(document).data?.map(describeDomain) ?? null,
    fetch: async function* (call) {
      for (const path of ["/v3/whitelabel/domains", "/v3/whitelabel/links"])
        for (let page = 0; page < pagesMax; page++) {
          const rows = await call(`${path}?limit=${pageRows}&offset=${page * pageRows}`, Rows);
          // One by one: a row of an unknown form does not hide the others.
          for (const row of rows) yield [row];
          if (rows.length < pageRows) break;
        }
    },
  },
  templates: {
    read: (document) => {
      const page = TemplatePage.safeParse(document);
      const one = Template.safeParse(document);
      return page.data?.result.map(describeTemplate) ?? (one.success ? [describeTemplate(one.data)] : null);
    },
    fetch: async function* (call) {
      let next: string | undefined = "/v3/templates?generations=legacy,dynamic&page_size=200";
      for (let page = 0; page < pagesMax && next !== undefined; page++) {
        const list: z.infer<typeof TemplatePage> = await call(next, TemplatePage);
        for (const { id } of list.result)
          yield await call(`/v3/templates/${encodeURIComponent(id)}`, Template);
        next = list._metadata?.next;
      }
    },
  },
  tags: {
    blocks: "handlebars",
    own: new Set(["unsubscribe", "unsubscribe_preferences", "weblink"]),
    other: /<%[^%>]{1,100}%>|\[(?:unsubscribe|weblink|Unsubscribe_Preferences)\]/g,
    withFallback: /^insert\s+(?<name>[\w.-]+)\s+["']default=(?<fallback>[^"']*)["']$/,
  },
};
