import { and, asc, eq, getTableColumns, gte, inArray, lt, lte, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { deliveries } from "#db/schema/deliveries";
import { type EventType, emailEvents } from "#db/schema/events";

/** A position in a team's feed: directly after the event it names. Compared by position, then by id. */
export type FeedPlace = { position: bigint; id: string };

/** The highest id. */
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The place after all events with a lower position. */
export const placeBelow = (position: bigint): FeedPlace => ({ position: position - 1n, id: LAST_ID });

/**
 * The position up to which the feed is final: every event below it is either committed and visible to all
 * later reads, or will never be. It is the position of the oldest open transaction of this database that has
 * written. An idle transaction therefore holds it back until `idle_in_transaction_session_timeout` ends it:
 * ours after 30 s, others as configured for their session or the database.
 *
 * Events ahead of the cluster's own transaction counter come from a restored dump; the counter's offset is
 * raised first.
 */
export async function readHorizon(db: Db, teamId: string): Promise<bigint> {
  const readOnce = async () => {
    const [row] = await db.execute<{ horizon: string; is_ahead: boolean }>(sql`
      select event_horizon()::text as horizon, exists (
        select from ${emailEvents} where ${emailEvents.teamId} = ${teamId}
          and ${emailEvents.position} >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset()
      ) as is_ahead`);
    if (!row) throw new Error("a select without from returned no row");
    return row;
  };
  const first = await readOnce();
  if (!first.is_ahead) return BigInt(first.horizon);
  await db.execute(sql`select continue_event_feed()`);
  return BigInt((await readOnce()).horizon);
}

export type FeedEvent = typeof emailEvents.$inferSelect;

export type FeedFilter = {
  types?: readonly EventType[];
  emailId?: string;
  /** Exact address. */
  recipient?: string;
  since?: Date;
  until?: Date;
};

/** The events after `after` and below the position `below`. */
export type FeedRange = { teamId: string; after: FeedPlace; below: bigint };

/**
 * Events of a range, oldest first: up to `limit` matches within the first `scanMax` events, so a filter
 * without matches costs no more than that.
 */
export async function readFeed(
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
export async function findScanEnd(
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
      .where(and(eq(deliveries.teamId, teamId), eq(deliveries.address, address)));
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
          : and(eq(emailEvents.recipient, recipient), inArray(emailEvents.emailId, emailsTo(recipient))),
      ),
    )
    .orderBy(asc(emailEvents.position), asc(emailEvents.id))
    .$dynamic();
}
