import { and, asc, desc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import { deliveries } from "#db/schema/deliveries";
import { domains } from "#db/schema/domains";
import { type EmailStatus, emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import type { EmailSummary } from "#server/shared/wire/email";
import { type Cursor, type Page, type PageQuery, pageOf, requireCursor } from "../../paging";
import { type EmailFilter, hasRowConditions, inDeliveries, inEmails, rowConditions } from "./filter";
import { findByTerms, isIndexed, termsOf } from "./search";

/** Emails that one scan reads at most, independent of the number requested. */
export const emailScanMax = 50_000;
/** What many emails match is found within the newest `nearMax` ones. For the rest there is an index. */
const nearMax = 2_000;
/**
 * Emails with all search terms that are compared with the filter at most. Nearly all match, unless the filter
 * names a status, or many words begin in the same way.
 */
const comparedMax = 10_000;
const comparedAtOnceMax = 1_000;

export type EmailScan = Page<EmailSummary> & {
  /**
   * The last email read if the scan ended before the page was full: the next scan starts after it. Otherwise
   * null.
   */
  scannedTo: string | null;
};

type Order = "newest" | "oldest";

/**
 * The team's emails, newest first, without bodies: as many as requested, however old they are. For code that
 * pages through all of them: the email of a cursor may expire between two pages, so the cursor is not
 * checked.
 */
export async function listEmails(ctx: Ctx, query: Query): Promise<Page<EmailSummary>> {
  let scan = await scanFrom(ctx, query);
  while (scan.scannedTo !== null) scan = await continueScan(query, scan, (rest) => scanFrom(ctx, rest));
  return { rows: scan.rows, hasMore: scan.hasMore };
}

type Query = PageQuery & EmailFilter;

/** Fills the page from where a scan ended. */
async function continueScan(
  query: Query,
  { rows, scannedTo }: EmailScan,
  read: (rest: Query) => Promise<EmailScan>,
): Promise<EmailScan> {
  const { after: _, before, ...filter } = query;
  const isOlder = before === undefined;
  const cursor = scannedTo === null ? {} : isOlder ? { after: scannedTo } : { before: scannedTo };
  const next = await read({ ...filter, ...cursor, limit: query.limit - rows.length });
  return { ...next, rows: isOlder ? [...rows, ...next.rows] : [...next.rows, ...rows] };
}

/**
 * The same with a bound: conditions without an index are checked on the next `emailScanMax` emails only, so a
 * page takes the same time with a thousand emails as with millions.
 */
export async function scanEmails(ctx: Ctx, query: Query): Promise<EmailScan> {
  await requireCursor(ctx, emails, query);
  return scanFrom(ctx, query);
}

async function scanFrom(ctx: Ctx, given: Query): Promise<EmailScan> {
  if (given.address !== undefined) return scanAddress(ctx, given, given.address);
  const query = await parseWords(ctx, given);
  if (query.id || query.recipient || termsOf(query).length === 0) return scanUpTo(ctx, query, emailScanMax);
  const near = await scanUpTo(ctx, query, nearMax);
  if (near.hasMore || near.scannedTo === null) return near;
  const direction = query.before === undefined ? "older" : "newer";
  const isReady = await isIndexed(ctx, { id: near.scannedTo, direction });
  // The index can still lack the newest emails, so it is asked only for those after the comparison.
  return isReady
    ? continueScan(query, near, (rest) => searchTerms(ctx, rest))
    : scanUpTo(ctx, query, emailScanMax);
}

/**
 * Emails to the address, and those from it if the team has its domain: for others, reading stays as cheap as
 * it is for recipients. Beside a filter for recipients it is that of the sender, and the reverse.
 */
async function scanAddress(ctx: Ctx, query: Query, address: string): Promise<EmailScan> {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const [own] = await ctx.db
    .select({ id: domains.id })
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, domain)));
  const isDomain = address.startsWith("@");
  const parts: EmailFilter[] = [
    ...(query.recipient || query.recipientDomain
      ? []
      : [isDomain ? { recipientDomain: domain } : { recipient: address }]),
    ...(query.sender || query.domain || !own ? [] : [isDomain ? { domain } : { sender: address }]),
  ];
  const { address: _, ...rest } = query;
  return joinScans(query, await Promise.all(parts.map((part) => scanFrom(ctx, { ...rest, ...part }))));
}

/** One page from several scans of the same query, as far as all of them have read. */
function joinScans({ before, limit }: Query, scans: readonly EmailScan[]): EmailScan {
  const isOlder = before === undefined;
  const compare = (a: string, b: string) => (a === b ? 0 : a > b === isOlder ? -1 : 1);
  const [end = null] = scans.flatMap(({ scannedTo }) => scannedTo ?? []).sort(compare);
  const found = new Map(scans.flatMap(({ rows }) => rows.map((row) => [row.id, row])));
  const sorted = [...found.values()]
    .filter(({ id }) => end === null || compare(id, end) <= 0)
    .sort((a, b) => compare(a.id, b.id));
  const rows = sorted.slice(0, limit);
  const isFull = rows.length === limit;
  const isMore = sorted.length > limit || end !== null || scans.some(({ hasMore }) => hasMore);
  return {
    rows: isOlder ? rows : rows.reverse(),
    hasMore: isFull && isMore,
    scannedTo: isFull ? null : end,
  };
}

/** Splits the words of the filter in the same way as those of emails. */
async function parseWords<T extends EmailFilter>(ctx: Ctx, filter: T): Promise<T> {
  const { subject, words } = filter;
  if (!subject && !words) return filter;
  const [parsed] = await ctx.db.execute<{ subject: string[]; any: string[] }>(
    sql`select search_words(${subject ?? ""}::text) as subject, search_words(${words ?? ""}::text) as any`,
  );
  return {
    ...filter,
    ...(subject && { subjectWords: parsed?.subject }),
    ...(words && { anyWords: parsed?.any }),
  };
}

async function scanUpTo(ctx: Ctx, query: Query, readMax: number): Promise<EmailScan> {
  let cursor: Cursor;
  const page = await pageOf(query, (at, order, limit) => {
    cursor = at;
    if (query.recipient) return findByRecipient(ctx, query, at, order, readMax).limit(limit);
    // The ends of a time range read rows that do not match.
    const isExact = !hasRowConditions(query) && !query.since && !query.until;
    return findInOrder(ctx, query, at, order, isExact ? limit : readMax).limit(limit);
  });
  if (page.hasMore || !hasRowConditions(query)) return { ...page, scannedTo: null };
  return { ...page, scannedTo: await findScanEnd(ctx, query, cursor, readMax) };
}

/** Compares what the index finds with the filter, until the page is full. */
async function searchTerms(ctx: Ctx, query: Query): Promise<EmailScan> {
  let scannedTo: string | null = null;
  const page = await pageOf(query, async (start, order, limit) => {
    const rows: EmailSummary[] = [];
    const direction = order === "newest" ? "older" : "newer";
    let cursor = start;
    let count = limit;
    for (let compared = 0; compared < comparedMax; compared += count) {
      const ids = await findByTerms(ctx, query, { cursor, order, count });
      rows.push(...(await readMatching(ctx, query, ids, order)));
      const last = ids.at(-1);
      if (ids.length < count || last === undefined || rows.length >= limit) return rows.slice(0, limit);
      cursor = { id: last, direction };
      count = Math.min(count * 4, comparedAtOnceMax);
    }
    scannedTo = cursor?.id ?? null;
    return rows;
  });
  return { ...page, scannedTo };
}

const readMatching = (ctx: Ctx, filter: EmailFilter, ids: string[], order: Order) =>
  ctx.db
    .select()
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), inArray(emails.id, ids), rowConditions(filter)))
    .orderBy(byId(order));

const byId = (order: Order) => (order === "newest" ? desc(emails.id) : asc(emails.id));

/** Reads emails in id order and filters them on the way: reading ends when the page is full. */
function findInOrder(ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order, readMax: number) {
  const withStatus = (status?: EmailStatus) =>
    ctx.db
      .select()
      .from(emails)
      .where(inEmails(ctx, filter, cursor, status))
      .orderBy(byId(order))
      .limit(readMax);
  const [first, second, ...others] = filter.statuses ?? [];
  // The index has the order of each status, so several are read separately.
  const found = second
    ? unionAll(withStatus(first), withStatus(second), ...others.map(withStatus))
        .orderBy(byId(order))
        .limit(readMax)
    : withStatus(first);
  // Same name as the table, so conditions on its columns apply to the subquery.
  const scanned = found.as("emails");
  return ctx.db
    .select(getTableColumns(emails))
    .from(scanned)
    .where(rowConditions(filter))
    .orderBy(byId(order))
    .$dynamic();
}

function findByRecipient(ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order, readMax: number) {
  const scanned = toAddress(ctx, filter, cursor, order).limit(readMax).as("scanned");
  return ctx.db
    .select(getTableColumns(emails))
    .from(scanned)
    .innerJoin(emails, and(eq(emails.teamId, ctx.teamId), eq(emails.id, scanned.id)))
    .where(rowConditions(filter))
    .orderBy(order === "newest" ? desc(scanned.id) : asc(scanned.id))
    .$dynamic();
}

const toAddress = (ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order) =>
  ctx.db
    // Two recipients of an email can differ in their letter case only.
    .selectDistinct({ id: deliveries.emailId })
    .from(deliveries)
    .where(inDeliveries(ctx, filter, cursor))
    .orderBy(order === "newest" ? desc(deliveries.emailId) : asc(deliveries.emailId))
    .$dynamic();

/** The email at which a scan ends, or null if the list ends before it. */
async function findScanEnd(
  ctx: Ctx,
  filter: EmailFilter,
  cursor: Cursor,
  readMax: number,
): Promise<string | null> {
  const order: Order = cursor?.direction === "newer" ? "oldest" : "newest";
  const withStatus = (status?: EmailStatus) =>
    ctx.db
      .select({ id: emails.id })
      .from(emails)
      .where(inEmails(ctx, filter, cursor, status))
      .orderBy(byId(order))
      .limit(readMax);
  const [first, second, ...others] = filter.statuses ?? [];
  const scanned = filter.recipient
    ? toAddress(ctx, filter, cursor, order)
    : second
      ? unionAll(withStatus(first), withStatus(second), ...others.map(withStatus)).orderBy(byId(order))
      : withStatus(first).$dynamic();
  const [end] = await scanned.offset(readMax - 1).limit(1);
  return end?.id ?? null;
}
