import { and, eq, gte, min, sql } from "drizzle-orm";
import {
  type FeedEvent,
  type FeedFilter,
  type FeedPlace,
  findScanEnd,
  placeBelow,
  readFeed,
  readHorizon,
} from "#db/feed";
import { usageDays, usageProgress } from "#db/schema/usage";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";

/** Events that one call looks at. A filter that lets few of them pass is answered in several calls. */
const scanMax = 20_000;
/** Events lie in the order of their transactions, which may differ from the order of their times by as much. */
const disorderMs = 60 * 60_000;

export type FeedQuery = FeedFilter & {
  /** Events behind this place; from the start of the feed, or of `since`, where it is absent. */
  after?: FeedPlace;
  limit: number;
};

export type FeedPage = {
  events: FeedEvent[];
  /** False when this was all that there is now. */
  hasMore: boolean;
  /** Where to go on, now or later. */
  next: FeedPlace;
};

/** The place behind an event. */
export const placeOf = ({ position, id }: FeedEvent): FeedPlace => ({ position: BigInt(position), id });

/**
 * The team's events in the order in which they were committed, oldest first. Whoever goes on from `next` each time sees every
 * event once: an event appears only when no transaction that began to write before it can still commit. The price is that
 * it appears later while such a transaction is open. A page may hold fewer events than asked for, or none, and yet not be the
 * last.
 */
export async function listEvents(ctx: Ctx, query: FeedQuery): Promise<FeedPage> {
  const { after: given, limit, ...filter } = query;
  const below = await readHorizon(ctx.db, ctx.teamId);
  if (given && given.position >= below)
    throw new AppError(
      "invalid",
      "Invalid `after`: this service gave no such cursor, or its database was set back since. Begin anew, with `since` for events from a time on.",
    );
  const range = { teamId: ctx.teamId, after: given ?? (await placeBefore(ctx, filter.since)), below };
  const events = await readFeed(ctx.db, range, filter, { limit: limit + 1, scanMax });
  const last = events[limit - 1];
  if (last && events.length > limit)
    return { events: events.slice(0, limit), hasMore: true, next: placeOf(last) };
  const end = await findScanEnd(ctx.db, range, filter, scanMax);
  const isBeyond = (time: Date, { until }: FeedFilter) =>
    until !== undefined && time.getTime() > until.getTime() + disorderMs;
  if (end && !isBeyond(end.createdAt, filter)) return { events, hasMore: true, next: placeOf(end) };
  return { events, hasMore: false, next: placeBelow(below) };
}

/** A place with every event of `since` and later behind it: the days that are counted know where they begin. */
async function placeBefore(ctx: Ctx, since: Date | undefined): Promise<FeedPlace> {
  const start = placeBelow(1n);
  if (!since) return start;
  const [counted] = await ctx.db
    .select({
      position: sql<string>`least(${usageProgress.position}, ${ctx.db
        .select({ first: min(usageDays.firstPosition) })
        .from(usageDays)
        .where(
          and(eq(usageDays.teamId, ctx.teamId), gte(usageDays.day, since.toISOString().slice(0, 10))),
        )})::text`,
    })
    .from(usageProgress)
    .where(eq(usageProgress.teamId, ctx.teamId));
  return counted ? placeBelow(BigInt(counted.position)) : start;
}
