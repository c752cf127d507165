import { and, eq, gte, inArray, lte, type SQL, sql } from "drizzle-orm";
import { isAddress } from "#db/columns";
import { deliveries } from "#db/schema/deliveries";
import { type EmailStatus, type Engagement, emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { firstIdAt, isId } from "#server/platform/ids";
import { formatTag, type TagFilter } from "#server/shared/email-words";
import type { Cursor } from "../../paging";

export type EmailFilter = {
  id?: string;
  /** One of these; all if it is empty. */
  statuses?: readonly EmailStatus[];
  /** The address, or `@` and the domain, of a recipient or the sender, in any letter case. */
  address?: string;
  /** Address of a recipient, in any letter case. */
  recipient?: string;
  /** Address of the sender, in any letter case. */
  sender?: string;
  /** Words of the subject, or their beginnings, in any order and case. */
  subject?: string;
  /** Words of the subject or of a recipient, or their beginnings, in any order and case. */
  words?: string;
  /** The same as `search_words` (db/migrations) splits them. */
  subjectWords?: readonly string[];
  anyWords?: readonly string[];
  tag?: TagFilter;
  /** `opened`: a recipient opened it or clicked a link; `clicked`: a recipient clicked a link. */
  engagement?: Engagement;
  apiKeyId?: string;
  /** The sender's domain. */
  domain?: string;
  /** The domain of a recipient. */
  recipientDomain?: string;
  /** Only these sender domains; null or omitted: all. */
  senderDomains?: readonly string[] | null;
  since?: Date;
  until?: Date;
  /** The length of a range that ends now, such as `24h`, if that is how `since` was set. */
  within?: string;
  /** This email and older ones. */
  upTo?: string;
};

/** What the filter sets, for the audit log: "status failed", "domain example.com". */
export const describeFilter = (filter: EmailFilter): string[] =>
  Object.entries(FILTER_NAMES).flatMap(([field, name]) => {
    const value = filter[field as keyof typeof FILTER_NAMES];
    // Parts of one command begin at different times.
    if (field === "since" && filter.within) return [];
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) return [];
    return `${name} ${formatValue(value)}`;
  });

const FILTER_NAMES = {
  id: "id",
  statuses: "status",
  address: "address",
  recipient: "recipient",
  recipientDomain: "recipient domain",
  sender: "sender",
  domain: "domain",
  subject: "subject",
  words: "words",
  tag: "tag",
  engagement: "engagement",
  apiKeyId: "API key",
  within: "within",
  since: "since",
  until: "until",
} satisfies Partial<Record<keyof EmailFilter, string>>;

function formatValue(value: NonNullable<EmailFilter[keyof typeof FILTER_NAMES]>): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString();
  if ("name" in value) return formatTag(value);
  return value.join(" or ");
}

/**
 * Ids contain the clock of the process that created them, rows that of the database: the maximum difference
 * between both.
 */
const clockSkewMsMax = 15 * 60_000;

/** Conditions that the index by recipient resolves: the emails to one address, in id order. */
export const inDeliveries = (ctx: Ctx, filter: EmailFilter, cursor: Cursor): SQL | undefined =>
  and(
    eq(deliveries.teamId, ctx.teamId),
    filter.recipient ? isAddress(deliveries.address, filter.recipient) : undefined,
    inOrder(sql`${deliveries.emailId}`, filter, cursor),
  );

/**
 * Conditions that the indexes of emails resolve, in id order. Only the ends of a time range read rows that do
 * not match. With several statuses, `status` is the one of this part of the result.
 */
export const inEmails = (
  ctx: Ctx,
  filter: EmailFilter,
  cursor: Cursor,
  status = onlyStatusOf(filter),
): SQL | undefined =>
  and(
    eq(emails.teamId, ctx.teamId),
    status ? eq(emails.status, status) : undefined,
    inOrder(sql`${emails.id}`, filter, cursor),
  );

const onlyStatusOf = ({ statuses }: EmailFilter): EmailStatus | undefined =>
  statuses?.length === 1 ? statuses[0] : undefined;

/** Conditions on an email's id. */
export function inOrder(
  id: SQL,
  { id: wanted, since, until, upTo }: EmailFilter,
  cursor: Cursor,
): SQL | undefined {
  return and(
    wanted === undefined ? undefined : isId(wanted) ? sql`${id} = ${wanted}` : sql`false`,
    cursor && (cursor.direction === "older" ? sql`${id} < ${cursor.id}` : sql`${id} > ${cursor.id}`),
    upTo ? sql`${id} <= ${upTo}` : undefined,
    since ? sql`${id} >= ${firstIdAt(new Date(since.getTime() - clockSkewMsMax))}` : undefined,
    until ? sql`${id} < ${firstIdAt(new Date(until.getTime() + clockSkewMsMax))}` : undefined,
  );
}

/** Conditions that are checked row by row, independent of the index that found the rows. */
export function rowConditions(filter: EmailFilter): SQL | undefined {
  const { statuses, sender, subjectWords, anyWords, tag, engagement, apiKeyId, domain } = filter;
  const { senderDomains, since, until } = filter;
  const recipients = sql`concat(${emails.subject}, ' ', ${emails.to}, ${emails.cc}, ${emails.bcc})`;
  return and(
    statuses?.length ? inArray(emails.status, [...statuses]) : undefined,
    sender ? isAddress(emails.senderAddress, sender) : undefined,
    subjectWords && containsWords(sql`${emails.subject}`, subjectWords),
    anyWords && containsWords(recipients, anyWords),
    tag && sql`${emails.tags} @> ${JSON.stringify([tag])}::jsonb`,
    engagement && inArray(emails.engagement, engagement === "opened" ? ["opened", "clicked"] : ["clicked"]),
    apiKeyId ? eq(emails.apiKeyId, apiKeyId) : undefined,
    domain ? eq(emails.senderDomain, domain) : undefined,
    filter.recipientDomain ? hasRecipientAt(filter.recipientDomain) : undefined,
    senderDomains ? inArray(emails.senderDomain, [...senderDomains]) : undefined,
    since && gte(emails.createdAt, since),
    until && lte(emails.createdAt, until),
  );
}

/**
 * Whether an index can find rows that then do not match, so many rows may have to be read for a few results.
 */
export const hasRowConditions = ({ sender, subject, words, tag, apiKeyId, ...rest }: EmailFilter): boolean =>
  Boolean(sender || subject || words || tag || apiKeyId || rest.domain || rest.senderDomains) ||
  Boolean(rest.engagement || rest.recipientDomain || (rest.recipient && rest.statuses?.length));

/** Every word is the beginning of a word of the text. A text without words, such as "%", is found nowhere. */
function containsWords(text: SQL, words: readonly string[]): SQL {
  if (words.length === 0) return sql`false`;
  const wanted = sql`array[${sql.join(
    words.map((word) => sql`${word}::text`),
    sql`, `,
  )}]`;
  return sql`(select bool_and(exists (select from unnest(own.words) as own_word where starts_with(own_word, wanted.word)))
    from (select search_words(${text}) as words offset 0) as own, unnest(${wanted}) as wanted(word))`;
}

const hasRecipientAt = (domain: string): SQL => sql`exists (
  select from ${deliveries}
  where ${deliveries.teamId} = ${emails.teamId} and ${deliveries.emailId} = ${emails.id} and ${deliveries.domain} = ${domain})`;
