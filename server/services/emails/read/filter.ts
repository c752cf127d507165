import { eq, gte, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { isAddress } from "#db/columns";
import { deliveries } from "#db/schema/deliveries";
import { EMAIL_STATUSES, type EmailStatus, ENGAGEMENTS, emails } from "#db/schema/emails";
import { parseDomainName } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import { formatTag, parseTag } from "#server/shared/email-words";
import { MailboxText } from "../../fields";

/** An address without a display name, normalized as it is stored. */
export const AddressText = MailboxText.transform(({ address }) => address);

const DomainText = z.string().transform((text, refine) => {
  const read = parseDomainName(text);
  if (read.ok) return read.domain;
  refine.addIssue(read.fault);
  return z.NEVER;
});

const [timeMin, timeMax] = [Date.UTC(1970, 0, 1), Date.UTC(9999, 0, 1)];

/** A time that PostgreSQL can store. */
export const TimeText = z.iso
  .datetime({
    offset: true,
    message: "Must be an ISO 8601 time with zone, such as 2026-01-31T09:00:00Z.",
  })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() >= timeMin && time.getTime() < timeMax, "Must be between 1970 and 9998.");

const isStatus = (text: string): text is EmailStatus => EMAIL_STATUSES.some((status) => status === text);

const Statuses = z.string().transform((text, refine) => {
  const names = [...new Set(text.split(","))];
  if (names.every(isStatus)) return names;
  refine.addIssue(`Must be one of ${EMAIL_STATUSES.join(", ")}, or several of them, separated by commas.`);
  return z.NEVER;
});

const Tag = z.string().transform((text, refine) => {
  const tag = parseTag(text);
  if (tag) return tag;
  refine.addIssue("Must be name or name:value of a tag.");
  return z.NEVER;
});

/**
 * How each filter of emails is written, in queries and bodies of the API, in the CLI, and in the console's
 * calls, URLs and exports. `CONDITIONS` has what each of them means.
 */
export const EMAIL_FILTER = {
  status: Statuses.optional().describe(
    "The status of the email, which is that of its worst recipient; several are separated by commas.",
  ),
  recipient: AddressText.optional().describe("The address of a recipient, in any letter case."),
  recipient_domain: DomainText.optional().describe("The domain of a recipient."),
  sender: AddressText.optional().describe("The address of the sender, in any letter case."),
  subject: z
    .string()
    .max(200, "Must have at most 200 characters. Some words of the subject are enough.")
    .optional()
    .describe("Words of the subject, or their beginnings, in any order and case: `invoice ready`."),
  tag: Tag.optional().describe("`name` or `name:value` of a tag."),
  engagement: z
    .enum(ENGAGEMENTS, `Must be one of ${ENGAGEMENTS.join(", ")}.`)
    .optional()
    .describe("What a recipient did: `opened` it, which includes clicks, or `clicked` a link."),
  key: z.string().refine(isId, "Must be the id of an API key.").optional().describe("The id of an API key."),
  domain: DomainText.optional().describe("The domain of the sender."),
  since: TimeText.optional().describe("The earliest time of creation."),
  until: TimeText.optional().describe("The latest time of creation."),
};

export type EmailFilter = z.output<z.ZodObject<typeof EMAIL_FILTER>> & {
  id?: string;
  /** The address of a recipient or of the sender, in any letter case. */
  address?: string;
  /** The domain of a recipient or of the sender. */
  any_domain?: string;
  /** Words of the subject or of a recipient, or their beginnings, in any order and case. */
  words?: string;
  /** Only these sender domains; null: all. */
  senderDomains?: readonly string[] | null;
  /** The length of a range that ends now, such as `24h`, if that is how `since` was set. */
  within?: string;
  /** This email and older ones. */
  upTo?: string;
};

type Conditions = { [Name in keyof EmailFilter]: (value: NonNullable<EmailFilter[Name]>) => SQL | undefined };

/** The condition of each filter on a row of `emails`. `findInOrder` has those on the id. */
const CONDITIONS = {
  status: (statuses) => inArray(emails.status, statuses),
  /** Always found by the index. */
  recipient: () => undefined,
  address: (address) => isAddress(emails.senderAddress, address),
  sender: (address) => isAddress(emails.senderAddress, address),
  recipient_domain: (domain) => hasRecipientAt(domain),
  domain: (domain) => eq(emails.senderDomain, domain),
  any_domain: (domain) => or(eq(emails.senderDomain, domain), hasRecipientAt(domain)),
  subject: (words) => hasWords(sql`${emails.subject}`, words),
  words: (words) =>
    hasWords(sql`concat(${emails.subject}, ' ', ${emails.to}, ${emails.cc}, ${emails.bcc})`, words),
  tag: (tag) => sql`${emails.tags} @> ${JSON.stringify([tag])}::jsonb`,
  engagement: (engagement) =>
    inArray(emails.engagement, engagement === "opened" ? ["opened", "clicked"] : ["clicked"]),
  key: (id) => eq(emails.apiKeyId, id),
  senderDomains: (domains) => inArray(emails.senderDomain, [...domains]),
  since: (time) => gte(emails.createdAt, time),
  until: (time) => lte(emails.createdAt, time),
} satisfies Conditions;

type Condition = keyof typeof CONDITIONS;

/** The filters whose emails an index has in the order of the list. The first one that is set is used. */
const INDEXED = ["recipient", "address", "sender", "status"] as const;

/** The filter by which an index finds the emails; undefined: all emails of the team are read in order. */
export const indexOf = (filter: EmailFilter): (typeof INDEXED)[number] | undefined =>
  INDEXED.find((name) => filter[name]?.length);

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** The filters that are checked row by row, because the index that finds the emails does not know them. */
const comparedWith = (filter: EmailFilter): Condition[] =>
  (Object.keys(CONDITIONS) as Condition[]).filter((name) => name !== indexOf(filter) && isSet(filter[name]));

export const rowConditions = (filter: EmailFilter): (SQL | undefined)[] =>
  comparedWith(filter).map((name) => (CONDITIONS[name] as (value: unknown) => SQL | undefined)(filter[name]));

/** Whether many emails may have to be read for a few results. The ends of a time range cost little. */
export const isSelective = (filter: EmailFilter): boolean =>
  comparedWith(filter).some((name) => name !== "since" && name !== "until");

/**
 * Whether the text has all these words, or words that begin with them, as the parser of PostgreSQL finds
 * them. The characters that it would take for parts of numbers, hosts, paths, addresses or markup separate
 * words. No email is found by a text without words, such as "%".
 */
function hasWords(text: SQL, words: string): SQL {
  const wanted = words.match(/[\p{L}\p{M}\p{N}]+/gu)?.map((word) => `'${word}':*`);
  if (!wanted) return sql`false`;
  return sql`to_tsvector('pg_catalog.simple', translate(${text}, '-._@/+:&<', '         '))
    @@ (select to_tsquery('pg_catalog.simple', ${wanted.join(" & ")}))`;
}

const hasRecipientAt = (domain: string): SQL => sql`exists (
  select from ${deliveries}
  where ${deliveries.teamId} = ${emails.teamId} and ${deliveries.emailId} = ${emails.id} and ${deliveries.domain} = ${domain})`;

/** What the filter sets, for the audit log: "status failed", "domain example.com". */
export const describeFilter = ({ upTo, senderDomains, ...filter }: EmailFilter): string[] =>
  Object.entries(filter).flatMap(([name, value]) => {
    // Parts of one command begin at different times.
    if (!isSet(value) || (name === "since" && filter.within)) return [];
    return `${name === "key" ? "API key" : name.replace("_", " ")} ${formatValue(value)}`;
  });

function formatValue(value: NonNullable<EmailFilter[keyof EmailFilter]>): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString();
  return "name" in value ? formatTag(value) : value.join(" or ");
}
