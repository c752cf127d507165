import type { HotSql } from "#db/client";
import { runPrepared } from "#db/statement";

/** A worker without a heartbeat for this long gets no share: three times the heartbeat interval. */
const beatSecondsMax = 15;

/**
 * The limits of one worker at one destination; null: no limit. `places` is a number of concurrent
 * connections.
 */
export type DestinationShare = { places: number | null; perMinute: number | null };

type Limit = {
  domain: string;
  connectionsMax: number | null;
  perMinute: number | null;
  /** Other active workers that send directly to destinations, and how many of them precede this one. */
  others: number;
  before: number;
};

/**
 * This worker's share of the limits that the operator set for these destinations, keyed by domain.
 * Connections are divided into whole numbers, so all workers together never exceed the limit: with more
 * workers than connections, some workers get none.
 */
export async function readDestinationShares(
  hot: HotSql,
  { workerId, domains }: { workerId: string; domains: readonly string[] },
): Promise<Map<string, DestinationShare>> {
  const limits = await runPrepared<Limit>(hot, READ_LIMITS, [domains, workerId, beatSecondsMax]);
  return new Map(limits.map((limit) => [limit.domain, shareOf(limit)]));
}

function shareOf({ connectionsMax, perMinute, others, before }: Limit): DestinationShare {
  const workers = others + 1;
  return {
    places:
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
