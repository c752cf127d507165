import { asc, eq, sql } from "drizzle-orm";
import type { HotSql } from "#db/client";
import { destinationLimits } from "#db/schema/deliveries";
import { runPrepared } from "#db/statement";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";

/** The highest value of a limit. */
export const destinationLimitMax = 1_000_000;

/** The limits of a destination over all workers; null: no limit. */
export type DestinationLimit = typeof destinationLimits.$inferSelect;

/** Omitted: unchanged. Null: the limit is removed. */
export type DestinationLimitChange = { connectionsMax?: number | null; perMinute?: number | null };

/** All destinations with a limit, by domain. */
export async function listDestinationLimits({ db }: Pick<Deps, "db">): Promise<DestinationLimit[]> {
  return db.select().from(destinationLimits).orderBy(asc(destinationLimits.domain));
}

/**
 * Sets the limits for email that is sent directly to the servers of a domain. Workers apply them from their
 * next claim on. 422 if no limit would remain.
 */
export async function setDestinationLimit(
  { db }: Pick<Deps, "db">,
  domain: string,
  change: DestinationLimitChange,
): Promise<DestinationLimit> {
  return db.transaction(async (tx) => {
    const [before] = await tx
      .select()
      .from(destinationLimits)
      .where(eq(destinationLimits.domain, domain))
      .for("update");
    const { connectionsMax = null, perMinute = null } = { ...before, ...change };
    if (connectionsMax === null && perMinute === null)
      throw new AppError("invalid", `${domain} would have no limit left. Unset its limit instead.`);
    const limit = { connectionsMax, perMinute, updatedAt: sql`now()` };
    const [set] = await tx
      .insert(destinationLimits)
      .values({ domain, ...limit })
      .onConflictDoUpdate({ target: destinationLimits.domain, set: limit })
      .returning();
    if (!set) throw new TypeError("an upsert returned no row");
    return set;
  });
}

/** Removes all limits of a destination. 404 if it has none. */
export async function unsetDestinationLimit({ db }: Pick<Deps, "db">, domain: string): Promise<void> {
  const [deleted] = await db
    .delete(destinationLimits)
    .where(eq(destinationLimits.domain, domain))
    .returning({ domain: destinationLimits.domain });
  if (!deleted) throw new AppError("not_found", `${domain} has no limit.`);
}

/** A worker without a heartbeat for this long gets no share: three times the heartbeat interval. */
const beatSecondsMax = 15;

/**
 * The limits of one worker at one destination; null: no limit. `dialogues`: how many at the same time, each
 * with its own connection.
 */
export type DestinationShare = { dialogues: number | null; perMinute: number | null };

type Limit = Omit<DestinationLimit, "updatedAt"> & {
  /** Other active workers that send directly to destinations, and how many of them precede this one. */
  others: number;
  before: number;
};

/**
 * This worker's share of the limits that the operator set for these destinations, keyed by domain.
 * Connections are divided into whole numbers, so all workers together never exceed the limit: with more
 * workers than connections, some workers get none.
 */
export async function listDestinationShares(
  hot: HotSql,
  { workerId, domains }: { workerId: string; domains: readonly string[] },
): Promise<Map<string, DestinationShare>> {
  const limits = await runPrepared<Limit>(hot, READ_LIMITS, [domains, workerId, beatSecondsMax]);
  return new Map(limits.map((limit) => [limit.domain, shareOf(limit)]));
}

function shareOf({ connectionsMax, perMinute, others, before }: Limit): DestinationShare {
  const workers = others + 1;
  return {
    dialogues:
      connectionsMax === null
        ? null
        : Math.floor(connectionsMax / workers) + (before < connectionsMax % workers ? 1 : 0),
    perMinute: perMinute === null ? null : perMinute / workers,
  };
}

const READ_LIMITS = `
select l.domain, l.connections_max as "connectionsMax", l.per_minute as "perMinute", w.others, w.before
from destination_limits l cross join lateral (
  select count(*)::int as others, (count(*) filter (where id < $2::uuid))::int as before from workers
  where id <> $2::uuid and transport = 'direct' and beat_at > now() - $3::int * interval '1 s') w
where l.domain = any($1::text[])`;
