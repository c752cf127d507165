import { and, asc, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import { isAddress } from "#db/columns";
import { deliveries } from "#db/schema/deliveries";
import { emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { firstIdAt, isId } from "#server/platform/ids";
import type { EmailSummary } from "#server/shared/wire/email";
import { type Cursor, type Page, type PageQuery, pageOf, requireCursor } from "../../paging";
import { type EmailFilter, indexOf, isSelective, rowConditions } from "./filter";

/** Emails that one search reads at most, independent of the number requested. */
export const emailScanMax = 50_000;

export type EmailScan = Page<EmailSummary> & {
  /**
   * The last email read if the search ended before the page was full: the next one starts after it. Otherwise
   * null.
   */
  scannedTo: string | null;
};

type Query = PageQuery & EmailFilter;
type Order = "newest" | "oldest";

/**
 * The team's emails, newest first, without bodies: as many as requested, however old they are. For code that
 * pages through all of them: the email of a cursor may expire between two pages, so the cursor is not
 * checked.
 */
export async function listEmails(ctx: Ctx, query: Query): Promise<Page<EmailSummary>> {
  const { after: _, before, ...filter } = query;
  let { rows, hasMore, scannedTo } = await scanFrom(ctx, query);
  while (scannedTo !== null) {
    const cursor = before === undefined ? { after: scannedTo } : { before: scannedTo };
    const next = await scanFrom(ctx, { ...filter, ...cursor, limit: query.limit - rows.length });
    rows = before === undefined ? [...rows, ...next.rows] : [...next.rows, ...rows];
    ({ hasMore, scannedTo } = next);
  }
  return { rows, hasMore };
}

/**
 * The same with a bound: conditions without an index are checked on the next `emailScanMax` emails only, so a
 * page takes the same time with a thousand emails as with millions.
 */
export async function scanEmails(ctx: Ctx, query: Query): Promise<EmailScan> {
  await requireCursor(ctx, emails, query);
  return scanFrom(ctx, query);
}

/** Reads emails in order and compares them with the filter on the way: reading ends when the page is full. */
async function scanFrom(ctx: Ctx, query: Query): Promise<EmailScan> {
  const isCompared = isSelective(query);
  let end = sql``;
  const page = await pageOf(query, (cursor, order, limit) => {
    // The ends of a time range read rows that do not match.
    const isExact = !isCompared && !query.since && !query.until;
    const found = findInOrder(ctx, query, cursor, order, isExact ? limit : emailScanMax);
    end = sql`select ${emails.id} from ${found} order by ${byId(order)} offset ${emailScanMax - 1} limit 1`;
    return ctx.db
      .select(getTableColumns(emails))
      .from(found)
      .where(and(...rowConditions(query)))
      .orderBy(byId(order))
      .limit(limit);
  });
  if (page.hasMore || !isCompared) return { ...page, scannedTo: null };
  const [last] = await ctx.db.execute<{ id: string }>(end);
  return { ...page, scannedTo: last?.id ?? null };
}

const byId = (order: Order): SQL => (order === "newest" ? desc : asc)(emails.id);

/** The next `count` emails in order by the index that the filter names, as a table that replaces `emails`. */
function findInOrder(ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order, count: number) {
  const select = (condition?: SQL) =>
    ctx.db
      .select()
      .from(emails)
      .where(and(eq(emails.teamId, ctx.teamId), condition, inRange(sql`${emails.id}`, filter, cursor)))
      .orderBy(byId(order))
      .limit(count);
  const { emailId } = deliveries;
  const selectTo = (address: string, condition?: SQL) => {
    const sent = ctx.db
      // Two recipients of an email can differ in their letter case only.
      .selectDistinct({ id: emailId })
      .from(deliveries)
      .where(
        and(
          eq(deliveries.teamId, ctx.teamId),
          isAddress(deliveries.address, address),
          inRange(sql`${emailId}`, filter, cursor),
        ),
      )
      .orderBy((order === "newest" ? desc : asc)(emailId))
      .limit(count)
      .as("sent");
    return ctx.db
      .select(getTableColumns(emails))
      .from(sent)
      .innerJoin(emails, and(eq(emails.teamId, ctx.teamId), eq(emails.id, sent.id)))
      .where(condition)
      .orderBy(byId(order));
  };
  const isFrom = (address: string) => isAddress(emails.senderAddress, address);
  const { recipient = "", address = "", sender = "", status = [] } = filter;
  const parts = {
    recipient: () => [selectTo(recipient)],
    // An email from an address to itself is in the second part.
    address: () => [selectTo(address, sql`not ${isFrom(address)}`), select(isFrom(address))],
    sender: () => [select(isFrom(sender))],
    // The index has the order of each status, so several are read separately.
    status: () => status.map((name) => select(eq(emails.status, name))),
    none: () => [select()],
  }[indexOf(filter) ?? "none"]();
  const [first = select(), second, ...others] = parts;
  const found = second
    ? unionAll(first, second, ...others)
        .orderBy(byId(order))
        .limit(count)
    : first;
  // With the name of the table, so that conditions on its columns apply to it.
  return found.as("emails");
}

/**
 * Ids contain the clock of the process that created them, rows that of the database: the maximum difference
 * between both.
 */
const clockSkewMsMax = 15 * 60_000;

/** Conditions on an email's id. */
function inRange(id: SQL, { id: wanted, since, until, upTo }: EmailFilter, cursor: Cursor): SQL | undefined {
  return and(
    wanted === undefined ? undefined : isId(wanted) ? sql`${id} = ${wanted}` : sql`false`,
    cursor && (cursor.direction === "older" ? sql`${id} < ${cursor.id}` : sql`${id} > ${cursor.id}`),
    upTo ? sql`${id} <= ${upTo}` : undefined,
    since ? sql`${id} >= ${firstIdAt(new Date(since.getTime() - clockSkewMsMax))}` : undefined,
    until ? sql`${id} < ${firstIdAt(new Date(until.getTime() + clockSkewMsMax))}` : undefined,
  );
}
