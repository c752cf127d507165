import { and, eq, gte, ilike, lte, or, type SQL, sql } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { type EmailStatus, emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { firstIdAt, isId } from "#server/ids";
import type { Cursor } from "../paging";

export type EmailFilter = {
  id?: string;
  status?: EmailStatus;
  /** Exact address of a recipient. */
  recipient?: string;
  /** Exact address of the sender. */
  sender?: string;
  /** Part of the subject, in any letter case. */
  subject?: string;
  /** Part of the subject or of a recipient, in any letter case. */
  words?: string;
  tag?: { name: string; value?: string };
  apiKeyId?: string;
  /** The sender's domain. */
  domain?: string;
  since?: Date;
  until?: Date;
  /** This mail, or older ones. */
  upTo?: string;
};

/** Ids tell the clock of whoever made them, rows that of the database: so far may the two be apart. */
const clocksApartMs = 15 * 60_000;

/** Where the index by recipient is read: the mails to one address, in the order of their ids. */
export const inDeliveries = (ctx: Ctx, filter: EmailFilter, cursor: Cursor): SQL | undefined =>
  and(
    eq(deliveries.teamId, ctx.teamId),
    filter.recipient ? eq(deliveries.address, filter.recipient) : undefined,
    inOrder(sql`${deliveries.emailId}`, filter, cursor),
  );

/** What an index of the mails finds in their order: nothing is read in vain but what lies at the ends of a span of time. */
export const inEmails = (ctx: Ctx, filter: EmailFilter, cursor: Cursor): SQL | undefined =>
  and(
    eq(emails.teamId, ctx.teamId),
    filter.status ? eq(emails.status, filter.status) : undefined,
    inOrder(sql`${emails.id}`, filter, cursor),
  );

function inOrder(id: SQL, { id: wanted, since, until, upTo }: EmailFilter, cursor: Cursor): SQL | undefined {
  return and(
    wanted === undefined ? undefined : isId(wanted) ? sql`${id} = ${wanted}` : sql`false`,
    cursor && (cursor.direction === "older" ? sql`${id} < ${cursor.id}` : sql`${id} > ${cursor.id}`),
    upTo ? sql`${id} <= ${upTo}` : undefined,
    since ? sql`${id} >= ${firstIdAt(new Date(since.getTime() - clocksApartMs))}` : undefined,
    until ? sql`${id} < ${firstIdAt(new Date(until.getTime() + clocksApartMs))}` : undefined,
  );
}

/** What has to be looked at row by row, by whatever way the rows were found. */
export function besideIndexes(filter: EmailFilter): SQL | undefined {
  const { status, sender, subject, words, tag, apiKeyId, domain, since, until } = filter;
  return and(
    status && eq(emails.status, status),
    sender ? eq(emails.senderAddress, sender) : undefined,
    subject ? ilike(emails.subject, partOf(subject)) : undefined,
    words ? speaksOf(words) : undefined,
    tag && hasTag(tag),
    apiKeyId ? eq(emails.apiKeyId, apiKeyId) : undefined,
    domain ? eq(emails.senderDomain, domain) : undefined,
    since && gte(emails.createdAt, since),
    until && lte(emails.createdAt, until),
  );
}

/** Whether a row can be found and still not pass, so that many may have to be read for a few. */
export const isSifted = ({ sender, subject, words, tag, apiKeyId, domain, ...rest }: EmailFilter): boolean =>
  Boolean(sender || subject || words || tag || apiKeyId || domain || (rest.recipient && rest.status));

export const hasTag = (tag: { name: string; value?: string }): SQL =>
  sql`${emails.tags} @> ${JSON.stringify([tag])}::jsonb`;

const partOf = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;

function speaksOf(words: string): SQL | undefined {
  const part = partOf(words);
  const lists = [emails.to, emails.cc, emails.bcc].map((list) => sql`${list}::text ilike ${part}`);
  return or(ilike(emails.subject, part), ...lists);
}
