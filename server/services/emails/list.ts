import { and, asc, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { type Cursor, type Page, type PageQuery, pageOf } from "../paging";
import { besideIndexes, type EmailFilter, hasTag, inDeliveries, inEmails, isSifted } from "./filter";
import type { EmailSummary } from "./read";

/** Mails that one look reads at most, however few of them are wanted. */
export const lookMax = 50_000;
/** What a common tag is found among; a rarer one is gathered by its own index, up to `gatheredMax` mails that bear it. */
const nearMax = 2_000;
const gatheredMax = 20_000;

export type Look = Page<EmailSummary> & {
  /** The last mail that was read where the look ended before the page was full: the next one begins behind it. Else null. */
  lookedTo: string | null;
};

type Order = "newest" | "oldest";

/** The team's mails, newest first, without bodies: as many as wanted, however far back they lie. */
export async function listEmails(ctx: Ctx, query: PageQuery & EmailFilter): Promise<Page<EmailSummary>> {
  const { after: _, before, ...rest } = query;
  let look = await lookForEmails(ctx, query);
  let rows = look.rows;
  while (look.lookedTo !== null) {
    const cursor = before === undefined ? { after: look.lookedTo } : { before: look.lookedTo };
    look = await lookForEmails(ctx, { ...rest, ...cursor, limit: query.limit - rows.length });
    rows = before === undefined ? [...rows, ...look.rows] : [...look.rows, ...rows];
  }
  return { rows, hasMore: look.hasMore };
}

/**
 * The same with an end: what no index finds is looked for among the next `lookMax` mails and no further, so that a page
 * takes the same time among a thousand mails and among millions.
 */
export async function lookForEmails(ctx: Ctx, query: PageQuery & EmailFilter): Promise<Look> {
  if (query.tag && !query.recipient) {
    const near = await lookAmong(ctx, query, nearMax);
    if (near.hasMore || near.lookedTo === null) return near;
    const gathered = await gatherTagged(ctx, query);
    if (gathered) return gathered;
  }
  return lookAmong(ctx, query, lookMax);
}

async function lookAmong(ctx: Ctx, query: PageQuery & EmailFilter, readMax: number): Promise<Look> {
  let cursor: Cursor;
  const page = await pageOf(query, (at, order, limit) => {
    cursor = at;
    const find = query.recipient ? findTo : findAmong;
    return find(ctx, query, at, order, readMax).limit(limit);
  });
  if (page.hasMore || !isSifted(query)) return { ...page, lookedTo: null };
  return { ...page, lookedTo: await findLookEnd(ctx, query, cursor, readMax) };
}

const byId = (order: Order) => (order === "newest" ? desc(emails.id) : asc(emails.id));

/** Read in their order, and sifted on the way: the reading ends with the page. */
function findAmong(ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order, readMax: number) {
  const looked = ctx.db
    .select()
    .from(emails)
    .where(inEmails(ctx, filter, cursor))
    .orderBy(byId(order))
    .limit(readMax)
    // The name of the table, so that whatever is said of its columns is said of these.
    .as("emails");
  return ctx.db
    .select(getTableColumns(emails))
    .from(looked)
    .where(besideIndexes(filter))
    .orderBy(byId(order))
    .$dynamic();
}

function findTo(ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order, readMax: number) {
  const looked = toAddress(ctx, filter, cursor, order).limit(readMax).as("looked");
  return ctx.db
    .select(getTableColumns(emails))
    .from(looked)
    .innerJoin(emails, and(eq(emails.teamId, ctx.teamId), eq(emails.id, looked.id)))
    .where(besideIndexes(filter))
    .orderBy(order === "newest" ? desc(looked.id) : asc(looked.id))
    .$dynamic();
}

const toAddress = (ctx: Ctx, filter: EmailFilter, cursor: Cursor, order: Order) =>
  ctx.db
    .select({ id: deliveries.emailId })
    .from(deliveries)
    .where(inDeliveries(ctx, filter, cursor))
    .orderBy(order === "newest" ? desc(deliveries.emailId) : asc(deliveries.emailId))
    .$dynamic();

/** The mail at which a look ends, or null where there are fewer. */
async function findLookEnd(
  ctx: Ctx,
  filter: EmailFilter,
  cursor: Cursor,
  readMax: number,
): Promise<string | null> {
  const order: Order = cursor?.direction === "newer" ? "oldest" : "newest";
  const looked = filter.recipient
    ? toAddress(ctx, filter, cursor, order)
    : ctx.db
        .select({ id: emails.id })
        .from(emails)
        .where(inEmails(ctx, filter, cursor))
        .orderBy(byId(order))
        .$dynamic();
  const [end] = await looked.offset(readMax - 1).limit(1);
  return end?.id ?? null;
}

/** All mails with a tag by the tag's own index, which knows no order; null where they are too many to be put into one. */
async function gatherTagged(ctx: Ctx, query: PageQuery & EmailFilter): Promise<Look | null> {
  if (!query.tag) return null;
  const gathered = ctx.db.$with("gathered").as(
    ctx.db
      .select({ id: emails.id })
      .from(emails)
      .where(and(eq(emails.teamId, ctx.teamId), hasTag(query.tag)))
      .limit(gatheredMax + 1),
  );
  const [counted] = await ctx.db.with(gathered).select({ count: sql<number>`count(*)::int` }).from(gathered);
  if (!counted || counted.count > gatheredMax) return null;
  const page = await pageOf(query, (cursor, order, limit) =>
    ctx.db
      .with(gathered)
      .select(getTableColumns(emails))
      .from(gathered)
      .innerJoin(emails, and(eq(emails.teamId, ctx.teamId), eq(emails.id, gathered.id)))
      .where(and(inEmails(ctx, query, cursor), besideIndexes(query)))
      .orderBy(byId(order))
      .limit(limit),
  );
  return { ...page, lookedTo: null };
}
