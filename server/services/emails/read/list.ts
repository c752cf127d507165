import { and, asc, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import type { EmailSummary } from "#server/shared/wire/email";
import { type Cursor, type Page, type PageQuery, pageOf, requireCursor } from "../../paging";
import { type EmailFilter, hasRowConditions, hasTag, inDeliveries, inEmails, rowConditions } from "./filter";

/** Emails that one scan reads at most, independent of the number requested. */
export const emailScanMax = 50_000;
/**
 * A common tag is found within the newest `nearMax` emails; for a rarer one, its index collects up to
 * `collectedMax` emails.
 */
const nearMax = 2_000;
const collectedMax = 20_000;

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
export async function listEmails(ctx: Ctx, query: PageQuery & EmailFilter): Promise<Page<EmailSummary>> {
  const { after: _, before, ...rest } = query;
  let scan = await scanFrom(ctx, query);
  let rows = scan.rows;
  while (scan.scannedTo !== null) {
    const cursor = before === undefined ? { after: scan.scannedTo } : { before: scan.scannedTo };
    scan = await scanFrom(ctx, { ...rest, ...cursor, limit: query.limit - rows.length });
    rows = before === undefined ? [...rows, ...scan.rows] : [...scan.rows, ...rows];
  }
  return { rows, hasMore: scan.hasMore };
}

/**
 * The same with a bound: conditions without an index are checked on the next `emailScanMax` emails only, so a page
 * takes the same time with a thousand emails as with millions.
 */
export async function scanEmails(ctx: Ctx, query: PageQuery & EmailFilter): Promise<EmailScan> {
  await requireCursor(ctx, emails, query);
  return scanFrom(ctx, query);
}

async function scanFrom(ctx: Ctx, query: PageQuery & EmailFilter): Promise<EmailScan> {
  if (query.tag && !query.recipient) {
    const near = await scanUpTo(ctx, query, nearMax);
    if (near.hasMore || near.scannedTo === null) return near;
    const collected = await collectTagged(ctx, query);
    if (collected) return collected;
  }
  return scanUpTo(ctx, query, emailScanMax);
}

async function scanUpTo(ctx: Ctx, query: PageQuery & EmailFilter, readMax: number): Promise<EmailScan> {
  let cursor: Cursor;
  const page = await pageOf(query, (at, order, limit) => {
    cursor = at;
    const find = query.recipient ? findByRecipient : findInOrder;
    return find(ctx, query, at, order, readMax).limit(limit);
  });
  if (page.hasMore || !hasRowConditions(query)) return { ...page, scannedTo: null };
  return { ...page, scannedTo: await findScanEnd(ctx, query, cursor, readMax) };
}

const byId = (order: Order) => (order === "newest" ? desc(emails.id) : asc(emails.id));

/** Reads emails in id order and filters them on the way: reading ends when the page is full. */
function findInOrder(ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order, readMax: number) {
  const scanned = ctx.db
    .select()
    .from(emails)
    .where(inEmails(ctx, filter, cursor))
    .orderBy(byId(order))
    .limit(readMax)
    // Same name as the table, so conditions on its columns apply to the subquery.
    .as("emails");
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
    .select({ id: deliveries.emailId })
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
  const scanned = filter.recipient
    ? toAddress(ctx, filter, cursor, order)
    : ctx.db
        .select({ id: emails.id })
        .from(emails)
        .where(inEmails(ctx, filter, cursor))
        .orderBy(byId(order))
        .$dynamic();
  const [end] = await scanned.offset(readMax - 1).limit(1);
  return end?.id ?? null;
}

/** All emails with a tag, from the tag's index, which has no order; null if there are too many to sort. */
async function collectTagged(ctx: Ctx, query: PageQuery & EmailFilter): Promise<EmailScan | null> {
  if (!query.tag) return null;
  const collected = ctx.db.$with("collected").as(
    ctx.db
      .select({ id: emails.id })
      .from(emails)
      .where(and(eq(emails.teamId, ctx.teamId), hasTag(query.tag)))
      .limit(collectedMax + 1),
  );
  const [counted] = await ctx.db
    .with(collected)
    .select({ count: sql<number>`count(*)::int` })
    .from(collected);
  if (!counted || counted.count > collectedMax) return null;
  const page = await pageOf(query, (cursor, order, limit) =>
    ctx.db
      .with(collected)
      .select(getTableColumns(emails))
      .from(collected)
      .innerJoin(emails, and(eq(emails.teamId, ctx.teamId), eq(emails.id, collected.id)))
      .where(and(inEmails(ctx, query, cursor), rowConditions(query)))
      .orderBy(byId(order))
      .limit(limit),
  );
  return { ...page, scannedTo: null };
}
