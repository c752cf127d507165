import { and, asc, desc, eq, getTableColumns, gte, inArray, lt, lte, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { isAddress } from "#db/columns";
import { firstIdAt } from "#db/partitions";
import { deliveries } from "#db/schema/deliveries";
import { type EventType, emailEvents } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";

/** A position in a team's feed: directly after the event it names. Compared by position, then by id. */
export type FeedPosition = { position: bigint; id: string };

export type FeedEvent = typeof emailEvents.$inferSelect;

type FeedFilter = {
  types?: readonly EventType[];
  emailId?: string;
  /** In any letter case. */
  recipient?: string;
  since?: Date;
  until?: Date;
};

/** Events that one call scans. A filter with few matches needs several calls. */
const scanMax = 20_000;
/** Events are ordered by transaction. Their times may be out of order by this much at most. */
const disorderMs = 60 * 60_000;

export type FeedQuery = FeedFilter & {
  /** Events after this place; by default from the start of the feed, or from `since`. */
  after?: FeedPosition;
  limit: number;
};

export type FeedPage = {
  events: FeedEvent[];
  /** False: these are all events so far. */
  hasMore: boolean;
  /** The place to continue from, now or later. */
  next: FeedPosition;
};

/** The place after an event. */
export const positionOf = ({ position, id }: FeedEvent): FeedPosition => ({ position: BigInt(position), id });

/**
 * The team's events in commit order, oldest first. A caller who always continues from `next` gets every event
 * exactly once: an event is listed only when no transaction that started to write before it can still commit.
 * The cost: events are listed later while such a transaction is open. A page may contain fewer events than
 * requested, or none, without being the last.
 */
export async function listEvents(ctx: Ctx, query: FeedQuery): Promise<FeedPage> {
  const { after: given, limit, ...filter } = query;
  const below = await readHorizon(ctx.db, ctx.teamId);
  if (given && given.position >= below)
    throw new AppError(
      "invalid",
      "Invalid `after`: this service did not issue this cursor, or its database was restored from a backup since. Start again without `after`, or with `since` to skip older events.",
    );
  const range = { teamId: ctx.teamId, after: given ?? (await placeBefore(ctx, filter.since)), below };
  const events = await readFeed(ctx.db, range, filter, { limit: limit + 1, scanMax });
  const last = events[limit - 1];
  if (last && events.length > limit)
    return { events: events.slice(0, limit), hasMore: true, next: positionOf(last) };
  const end = await findScanEnd(ctx.db, range, filter, scanMax);
  const isBeyond = (time: Date, { until }: FeedFilter) =>
    until !== undefined && time.getTime() > until.getTime() + disorderMs;
  if (end && !isBeyond(end.createdAt, filter)) return { events, hasMore: true, next: positionOf(end) };
  return { events, hasMore: false, next: placeBelow(below) };
}

/**
 * A place before all events from `since` on: the first event of the last email that was accepted before it.
 * Its transaction began earlier than those of the events.
 */
async function placeBefore({ db, teamId }: Ctx, since: Date | undefined): Promise<FeedPosition> {
  const start = placeBelow(1n);
  if (!since) return start;
  const { emailId, position } = emailEvents;
  const firstId = firstIdAt(Math.max(0, since.getTime() - disorderMs));
  const earlier = db
    .select({ emailId })
    .from(emailEvents)
    .where(and(eq(emailEvents.teamId, teamId), lt(emailId, firstId)))
    .orderBy(desc(emailId))
    .limit(1);
  const [first] = await db
    .select({ position: sql<string | null>`min(${position})::text` })
    .from(emailEvents)
    .where(and(eq(emailEvents.teamId, teamId), eq(emailId, sql`(${earlier})`)));
  return first?.position ? placeBelow(BigInt(first.position)) : start;
}

/** The highest id. */
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The place after all events with a lower position. */
const placeBelow = (position: bigint): FeedPosition => ({ position: position - 1n, id: LAST_ID });

/**
 * The position up to which the feed is final: every event below it is either committed and visible to all
 * later reads, or will never be. It is the position of the oldest open transaction of this database that has
 * written. An idle transaction therefore holds it back until `idle_in_transaction_session_timeout` ends it:
 * ours after 30 s, others as configured for their session or the database.
 *
 * It never decreases. `event_horizon()`, which is for the statement that reads the events itself, may: a
 * transaction of another database that ends while the statement runs holds no lock by which to recognize it.
 * Here whatever has ended is passed over, because the events are read by later statements. The status is
 * checked after the locks: in the other order a transaction could end in between.
 *
 * Events ahead of the cluster's own transaction counter come from a restored dump; the counter's offset is
 * raised first.
 */
async function readHorizon(db: Db, teamId: string): Promise<bigint> {
  const readOnce = async () => {
    const [row] = await db.execute<{ horizon: string; is_ahead: boolean }>(sql`
      with ours as materialized (
        select x.xact from pg_snapshot_xip(pg_current_snapshot()) as x(xact)
        where not exists (
          select from pg_locks l join pg_stat_activity a on a.pid = l.pid
          where l.locktype = 'transactionid' and l.transactionid = x.xact::xid and l.mode = 'ExclusiveLock'
            and l.granted and a.datname <> current_database()
        )
      ), counter as (
        select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next
      )
      select (event_offset() + coalesce(
          (select min(xact::text::bigint) from ours where pg_xact_status(xact) = 'in progress'), counter.next
        ))::text as horizon, exists (
          select from ${emailEvents} where ${emailEvents.teamId} = ${teamId}
            and ${emailEvents.position} >= counter.next + event_offset()
        ) as is_ahead
      from counter`);
    if (!row) throw new Error("a select without from returned no row");
    return row;
  };
  const first = await readOnce();
  if (!first.is_ahead) return BigInt(first.horizon);
  await db.execute(sql`select continue_event_feed()`);
  return BigInt((await readOnce()).horizon);
}

/** The events after `after` and below the position `below`. */
type FeedRange = { teamId: string; after: FeedPosition; below: bigint };

/**
 * Events of a range, oldest first: up to `limit` matches within the first `scanMax` events, so a filter
 * without matches costs no more than that.
 */
async function readFeed(
  db: Db,
  range: FeedRange,
  filter: FeedFilter,
  { limit, scanMax }: { limit: number; scanMax: number },
): Promise<FeedEvent[]> {
  const scanned = scan(db, range, filter).limit(scanMax).as("scanned");
  const { types, since, until } = filter;
  return db
    .select()
    .from(scanned)
    .where(
      and(
        types && inArray(scanned.type, [...types]),
        since && gte(scanned.createdAt, since),
        until && lte(scanned.createdAt, until),
      ),
    )
    .orderBy(asc(scanned.position), asc(scanned.id))
    .limit(limit);
}

/** The event at which a scan of `scanMax` events stops, or null if the range ends before it. */
async function findScanEnd(
  db: Db,
  range: FeedRange,
  filter: FeedFilter,
  scanMax: number,
): Promise<FeedEvent | null> {
  const [last] = await scan(db, range, filter)
    .offset(scanMax - 1)
    .limit(1);
  return last ?? null;
}

/** Email and recipient are resolved by an index. The other filters are checked event by event. */
function scan(db: Db, { teamId, after, below }: FeedRange, { emailId, recipient }: FeedFilter) {
  const emailsTo = (address: string) =>
    db
      .select({ id: deliveries.emailId })
      .from(deliveries)
      .where(and(eq(deliveries.teamId, teamId), isAddress(deliveries.address, address)));
  return db
    .select(getTableColumns(emailEvents))
    .from(emailEvents)
    .where(
      and(
        eq(emailEvents.teamId, teamId),
        sql`(${emailEvents.position}, ${emailEvents.id}) > (${String(after.position)}::bigint, ${after.id}::uuid)`,
        lt(emailEvents.position, sql`${String(below)}::bigint`),
        emailId === undefined ? undefined : eq(emailEvents.emailId, emailId),
        recipient === undefined
          ? undefined
          : and(
              isAddress(emailEvents.recipient, recipient),
              inArray(emailEvents.emailId, emailsTo(recipient)),
            ),
      ),
    )
    .orderBy(asc(emailEvents.position), asc(emailEvents.id))
    .$dynamic();
}
