import { and, eq, gte, min, sql } from "drizzle-orm";
import { usageDays, usageProgress } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import {
  type FeedEvent,
  type FeedFilter,
  type FeedPlace,
  findScanEnd,
  placeBelow,
  readFeed,
  readHorizon,
} from "./feed-query";

/** Events that one call scans. A filter with few matches needs several calls. */
const scanMax = 20_000;
/** Events are ordered by transaction. Their times may be out of order by this much at most. */
const disorderMs = 60 * 60_000;

export type FeedQuery = FeedFilter & {
  /** Events after this place; by default from the start of the feed, or from `since`. */
  after?: FeedPlace;
  limit: number;
};

export type FeedPage = {
  events: FeedEvent[];
  /** False: these are all events so far. */
  hasMore: boolean;
  /** The place to continue from, now or later. */
  next: FeedPlace;
};

/** The place after an event. */
export const placeOf = ({ position, id }: FeedEvent): FeedPlace => ({ position: BigInt(position), id });

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
    return { events: events.slice(0, limit), hasMore: true, next: placeOf(last) };
  const end = await findScanEnd(ctx.db, range, filter, scanMax);
  const isBeyond = (time: Date, { until }: FeedFilter) =>
    until !== undefined && time.getTime() > until.getTime() + disorderMs;
  if (end && !isBeyond(end.createdAt, filter)) return { events, hasMore: true, next: placeOf(end) };
  return { events, hasMore: false, next: placeBelow(below) };
}

/** A place before all events from `since` on, found by the first positions of the daily usage counts. */
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
