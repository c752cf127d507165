import { z } from "zod";
import { type ProviderCall, pagesMax } from "../provider-call";
import { type FoundDomain, type FoundTemplate, foundDomain, foundTemplate } from "./found";
import { firstOf, type Page, type Provider, readTime, unreadable } from "./provider";

/*
 * Resend. Shapes after the types of the `resend` package 6.38.0 and the API reference, read on 2026-11-23:
 * https://resend.com/docs/api-reference/contacts/list-contacts
 * https://resend.com/docs/api-reference/pagination
 * https://resend.com/docs/api-reference/domains/get-domain
 * https://resend.com/docs/api-reference/templates/get-template
 * A contact that is unsubscribed receives no broadcasts but all other email.
 */
const pageRows = 100;

const SuppressedRow = z.object({
  email: z.string(),
  origin: z.enum(["bounce", "complaint", "manual"]),
  createdat: z.unknown().optional(),
});
const ContactRow = z.object({
  email: z.string(),
  unsubscribed: z.union([z.boolean(), z.stringbool()]),
  createdat: z.unknown().optional(),
});
const ListDocument = z.object({ data: z.array(z.unknown()), has_more: z.boolean().optional() });
const WithId = z.object({ id: z.string() });

const LIST_OF = { bounce: "bounces", complaint: "complaints", manual: "manual" } as const;

const Domain = z.object({
  name: z.string(),
  // A list of contacts or templates has no region.
  region: z.string(),
  open_tracking: z.boolean().nullish(),
  click_tracking: z.boolean().nullish(),
  tracking_subdomain: z.string().nullish(),
  tls: z.string().nullish(),
  capabilities: z.object({ receiving: z.string() }).partial().nullish(),
  records: z.array(z.object({ record: z.string(), name: z.string() })).nullish(),
});

/**
 * The name of the SPF record is relative to the registered domain. Its first label is that of the return
 * path.
 */
function describeDomain(domain: z.infer<typeof Domain>): FoundDomain {
  const label = domain.records?.find(({ record }) => record === "SPF")?.name.split(".")[0];
  return foundDomain(domain.name, {
    returnPathHost: label ? `${label}.${domain.name}` : null,
    trackingLabel: domain.tracking_subdomain || null,
    openTracking: domain.open_tracking ?? null,
    clickTracking: domain.click_tracking ?? null,
    isTlsRequired: domain.tls ? domain.tls === "enforced" : null,
    notMapped: [
      `region ${domain.region}`,
      ...(domain.capabilities?.receiving === "enabled" ? ["receiving email"] : []),
    ],
  });
}

const Template = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(["draft", "published"]),
  alias: z.string().nullish(),
  subject: z.string().nullish(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  from: z.string().nullish(),
  reply_to: z.union([z.array(z.string()), z.string().transform((one) => [one])]).nullish(),
  variables: z
    .array(z.object({ key: z.string(), fallback_value: z.union([z.string(), z.number()]).nullish() }))
    .nullish(),
});

const describeTemplate = (template: z.infer<typeof Template>): FoundTemplate =>
  foundTemplate({
    id: template.id,
    name: template.name,
    alias: template.alias ?? null,
    subject: template.subject ?? null,
    html: template.html ?? null,
    text: template.text ?? null,
    sender: template.from ?? null,
    replyTo: template.reply_to ?? [],
    fallbacks: Object.fromEntries(
      (template.variables ?? []).flatMap(({ key, fallback_value }) =>
        fallback_value === null || fallback_value === undefined ? [] : [[key, fallback_value] as const],
      ),
    ),
    isPublished: template.status === "published",
  });

export const resend: Provider = {
  name: "resend",
  label: "Resend",
  api: {
    urls: { us: "https://api.resend.com" },
    headersOf: (key) => ({ authorization: `Bearer ${key}` }),
  },
  suppressions: {
    rowsOf: firstOf(
      ListDocument.transform(({ data }) => data),
      z.array(z.unknown()),
    ),
    unmarked: [],
    read: (row) => {
      const suppressed = SuppressedRow.safeParse(row);
      if (suppressed.success) {
        const { email, origin, createdat } = suppressed.data;
        return { address: email, list: LIST_OF[origin], at: readTime(createdat) };
      }
      const contact = ContactRow.safeParse(row);
      if (!contact.success)
        return unreadable(
          row,
          "The row is neither a suppression (`email`, `origin`) nor a contact (`email`, `unsubscribed`).",
        );
      const { email, unsubscribed, createdat } = contact.data;
      return unsubscribed
        ? { address: email, list: "group-unsubscribes", at: readTime(createdat) }
        : { isOther: true };
    },
    fetch: async function* (call) {
      yield* fetchAll(call, "/suppressions");
      yield* fetchAll(call, "/contacts");
    },
  },
  domains: {
    read: (document) =>
      z
        .union([z.object({ data: z.array(Domain) }), Domain.transform((domain) => ({ data: [domain] }))])
        .safeParse(document)
        .data?.data.map(describeDomain) ?? null,
    fetch: async function* (call) {
      for await (const { rows } of fetchAll(call, "/domains"))
        for (const row of rows) {
          const { success, data } = WithId.safeParse(row);
          yield success ? await call(`/domains/${encodeURIComponent(data.id)}`, Domain) : row;
        }
    },
  },
  templates: {
    read: (document) =>
      z
        .union([
          z.object({ data: z.array(Template) }),
          Template.transform((template) => ({ data: [template] })),
        ])
        .safeParse(document)
        .data?.data.map(describeTemplate) ?? null,
    fetch: async function* (call) {
      for await (const { rows } of fetchAll(call, "/templates"))
        for (const row of rows) {
          const { success, data } = WithId.safeParse(row);
          yield success ? await call(`/templates/${encodeURIComponent(data.id)}`, Template) : row;
        }
    },
  },
  tags: {
    blocks: null,
    own: new Set(["RESEND_UNSUBSCRIBE_URL", "UNSUBSCRIBE_URL", "FIRST_NAME", "LAST_NAME", "EMAIL"]),
    other: null,
    withFallback: /^(?<name>[\w.]+)\s*\|(?<fallback>.*)$/,
  },
};

/** Follows the cursor: the id of the last entry of a page. */
export async function* fetchAll(call: ProviderCall, path: string): AsyncGenerator<Page> {
  for (let page = 0, after = ""; page < pagesMax; page++) {
    const { data, has_more } = await call(`${path}?limit=${pageRows}${after}`, ListDocument);
    yield { list: null, rows: data };
    const last = WithId.safeParse(data.at(-1));
    if (!has_more || !last.success) return;
    after = `&after=${encodeURIComponent(last.data.id)}`;
  }
}
