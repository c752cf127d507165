import { and, asc, eq, getTableColumns, gte, inArray, lt, lte, sql } from "drizzle-orm";
import type { Db } from "./client";
import { deliveries } from "./schema/deliveries";
import { type EventType, emailEvents } from "./schema/events";

/** A place in a team's feed: behind the event that it names. Compared first by position, then by id. */
export type FeedPlace = { position: bigint; id: string };

/** Ids go up to this one. */
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Behind every event whose position is below that. */
export const placeBelow = (position: bigint): FeedPlace => ({ position: position - 1n, id: LAST_ID });

/**
 * Up to where the feed is settled: every event with a position below it is committed and seen by whoever reads from now
 * on, or never will be. It stands at the oldest transaction of this database that has written and is still open, so one
 * that idles holds it back until `idle_in_transaction_session_timeout` ends it: ours after 30 s, others as their sessions
 * or the database are set.
 *
 * Events that lie ahead of the cluster's own count come from a restored dump; the count is set above them first.
 */
export async function readHorizon(db: Db, teamId: string): Promise<bigint> {
  const look = async () => {
    const [row] = await db.execute<{ horizon: string; is_ahead: boolean }>(sql`
      select event_horizon()::text as horizon, exists (
        select from ${emailEvents} where ${emailEvents.teamId} = ${teamId}
          and ${emailEvents.position} >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset()
      ) as is_ahead`);
    if (!row) throw new Error("a select without from returned no row");
    return row;
  };
  const first = await look();
  if (!first.is_ahead) return BigInt(first.horizon);
  await db.execute(sql`select continue_event_feed()`);
  return BigInt((await look()).horizon);
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

/** What lies behind `after` and below the position `below`. */
export type FeedRange = { teamId: string; after: FeedPlace; below: bigint };

/**
 * Events of a range, oldest first: up to `limit` that pass the filter among the first `scanMax` that there are, so that a
 * filter which nothing passes costs no more than these.
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

/** The event at which a reading of `scanMax` events stops, or null where the range ends before. */
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

/** The mail and the recipient narrow by an index; what else is filtered is looked at event by event. */
function scan(db: Db, { teamId, after, below }: FeedRange, { emailId, recipient }: FeedFilter) {
  const mailsTo = (address: string) =>
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
          : and(eq(emailEvents.recipient, recipient), inArray(emailEvents.emailId, mailsTo(recipient))),
      ),
    )
    .orderBy(asc(emailEvents.position), asc(emailEvents.id))
    .$dynamic();
}
