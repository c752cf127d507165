import { and, eq, gt, lt, type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { emails, emailTermsBacklog, emailTermsPending } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { timeOfId } from "#server/platform/ids";
import { foldAddress } from "#server/shared/fold-address";
import type { Cursor } from "../../paging";
import { type EmailFilter, inEmails, inOrder } from "./filter";
import { type PeriodRun, periodRuns, smallestPeriodBits, subperiodsOf } from "./periods";

/** The lengths at which `search_terms` (db/migrations) stores the beginning of a word, longest first. */
const PREFIX_LENGTHS = [11, 7, 4, 3] as const;

/**
 * The names of the search terms that an email must have to match the filter. Empty: the index finds nothing
 * by it.
 */
export function termsOf(filter: EmailFilter): string[] {
  const { sender, domain, recipientDomain, apiKeyId, tag } = filter;
  const words = [...(filter.subjectWords ?? []), ...(filter.anyWords ?? [])];
  const prefixes = words.flatMap((word) => {
    const characters = [...word];
    const length = PREFIX_LENGTHS.find((size) => size <= characters.length);
    return length === undefined ? [] : characters.slice(0, length).join("");
  });
  return [
    ...new Set(prefixes),
    ...(sender ? [`f:${foldAddress(sender)}`] : []),
    ...(domain ? [`e:${domain}`] : []),
    ...(recipientDomain ? [`d:${recipientDomain}`] : []),
    ...(apiKeyId ? [`k:${apiKeyId}`] : []),
    ...(tag ? [tag.value === undefined ? `t:${tag.name}` : `t:${tag.name}=${tag.value}`] : []),
  ];
}

/**
 * Whether all emails of the team have their search terms that come after this one in the order of the search.
 * New emails get theirs within a minute.
 */
export async function isIndexed(ctx: Ctx, { id, direction }: NonNullable<Cursor>): Promise<boolean> {
  const isOlder = direction === "older";
  const noted = await ctx.db
    .select({ id: emailTermsPending.emailId })
    .from(emailTermsPending)
    .where(
      and(
        eq(emailTermsPending.teamId, ctx.teamId),
        isOlder ? lt(emailTermsPending.emailId, id) : gt(emailTermsPending.emailId, id),
      ),
    )
    .limit(1);
  const backlog = await ctx.db
    .select({ nextId: emailTermsBacklog.nextId })
    .from(emailTermsBacklog)
    .where(eq(emailTermsBacklog.teamId, ctx.teamId));
  return noted.length === 0 && backlog.length === 0;
}

type Order = "newest" | "oldest";
type Search = {
  db: Db;
  teamId: string;
  names: readonly string[];
  /** The ids that the cursor and the filter allow. */
  within: SQL | undefined;
  order: Order;
};

/**
 * The ids of the next emails that have all these terms, in order; fewer than `count` if there are no more.
 * Terms can be the same by chance, and words are only compared in their first letters, so the caller compares
 * the emails with the filter.
 *
 * The index has no order. So it is asked for one period after another, from the cursor on, in growing
 * periods. Each is asked for at most `count` emails: if it has more, its parts are asked instead. So what is
 * read depends neither on how many emails match nor on how far away they are.
 */
export async function findByTerms(
  ctx: Ctx,
  filter: EmailFilter,
  { cursor, order, count }: { cursor: Cursor; order: Order; count: number },
): Promise<string[]> {
  const ends = await findEnds(ctx, filter, cursor);
  if (!ends) return [];
  return ctx.db.transaction(async (db) => {
    await db.execute(sql`select set_config('jit', 'off', true)`);
    const within = inOrder(sql`t.email_id`, filter, cursor);
    const search: Search = { db, teamId: ctx.teamId, names: termsOf(filter), within, order };
    const ids: string[] = [];
    for (const run of periodRuns(ends, order)) {
      ids.push(...(await searchRun(search, run, count - ids.length)));
      if (ids.length >= count) break;
    }
    return ids;
  });
}

/**
 * The times in ms of the first and last email that the cursor and the filter allow; null if there is none.
 */
async function findEnds(ctx: Ctx, filter: EmailFilter, cursor: Cursor) {
  const { statuses: _, ...anyStatus } = filter;
  const where = inEmails(ctx, anyStatus, cursor);
  const endOf = (order: SQL) =>
    ctx.db.select({ id: emails.id }).from(emails).where(where).orderBy(order).limit(1);
  const [[oldest], [newest]] = await Promise.all([
    endOf(sql`${emails.id} asc`),
    endOf(sql`${emails.id} desc`),
  ]);
  if (!oldest || !newest) return null;
  return { fromMs: timeOfId(oldest.id).getTime(), toMs: timeOfId(newest.id).getTime() };
}

async function searchRun(search: Search, run: PeriodRun, count: number): Promise<string[]> {
  const isSmallest = run.bits === smallestPeriodBits;
  const found = await readRun(search, run, count);
  const sorted = (rows: typeof found) => {
    const ids = rows.map(({ id }) => id).sort();
    return search.order === "newest" ? ids.reverse() : ids;
  };
  const last = found.at(-1);
  if (found.length < count || !last) return sorted(found);
  // The last period has at least the emails that are still needed, but these need not be the first ones in
  // it.
  const complete = sorted(found.filter(({ period }) => period !== last.period));
  const missing = count - complete.length;
  const rest = isSmallest
    ? sorted(await readRun(search, { ...run, first: last.period, last: last.period }, missing, true))
    : await searchRun(search, subperiodsOf(run.bits, last.period, search.order), missing);
  return [...complete, ...rest];
}

/**
 * Up to `count` emails of the periods, in the order of the run. Those of one period are in any order, unless
 * `isSorted`: then all matches of each period are read. Conditions in separate arrays let PostgreSQL skip
 * what only one of them matches.
 */
function readRun(
  { db, teamId, names, within, order }: Search,
  { bits, first, last, scopeBits }: PeriodRun,
  count: number,
  isSorted = false,
): Promise<{ period: number; id: string }[]> {
  const terms = names.map((name) => sql`${name}::text`);
  if (bits < scopeBits) terms.push(sql`${`${bits}:`}::text || p.period`);
  const conditions = terms.map((name) => sql`t.terms @> array[search_term(s.scope, ${name})]`);
  const direction = sql.raw(order === "newest" ? "desc" : "asc");
  // Without `offset 0`, the planner could read all emails of the team instead of those with the terms.
  return db.execute<{ period: number; id: string }>(sql`
    select p.period::float8 as period, m.email_id as id
    from generate_series(${first}::bigint, ${last}::bigint, ${first <= last ? 1 : -1}::bigint) as p(period)
      cross join lateral (
        select search_scope(${teamId}, p.period >> ${scopeBits - bits}::int) as scope offset 0
      ) as s
      cross join lateral (
        select t.email_id from (
          select t.team_id, t.email_id from email_terms as t where ${sql.join(conditions, sql` and `)} offset 0
        ) as t
        where t.team_id = ${teamId} ${within ? sql`and ${within}` : sql``}
        ${isSorted ? sql`order by t.email_id ${direction}` : sql``} limit ${count}::int
      ) as m
    limit ${count}::int`);
}
