import type { HotSql } from "./client";

/** A worker that has not told for so long that it lives has no share: three of its beats. */
const beatSecondsMax = 15;

/** What one worker may do at one destination; null where nobody set a limit. */
export type Ceiling = { places: number | null; perMinute: number | null };

type Limit = {
  domain: string;
  connectionsMax: number | null;
  perMinute: number | null;
  /** Other workers that send straight to destinations now, and those of them that come before this one. */
  others: number;
  before: number;
};

/**
 * The share that this worker has of what the operator allows these destinations, by their domains. Dialogues are dealt out
 * whole, so that all workers together have no more of them than the limit: where there are more workers than dialogues,
 * some have none.
 */
export async function readCeilings(
  hot: HotSql,
  { workerId, domains }: { workerId: string; domains: readonly string[] },
): Promise<Map<string, Ceiling>> {
  const limits = await hot.unsafe<Limit[]>(READ_LIMITS, [domains, workerId, beatSecondsMax], {
    prepare: hot.options.prepare,
  });
  return new Map(limits.map((limit) => [limit.domain, shareOf(limit)]));
}

function shareOf({ connectionsMax, perMinute, others, before }: Limit): Ceiling {
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
