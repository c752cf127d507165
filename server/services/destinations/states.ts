import type { HotSql } from "#db/client";
import { runPrepared, writeStatement } from "#db/statement";
import { destinationLimitMax } from "./limits";

/** A worker without a heartbeat for this long gets no share: three times the heartbeat interval. */
const beatSecondsMax = 15;
/** First pause after a rate-limit reply, and the longest. Each further one in a row doubles it. */
export const blockSeconds = { first: 30, max: 900 };
/** Transactions per minute: the lowest limit, and from where on there is none. */
export const rateLimit = { min: 6, free: 1_200 };
/** A limited rate that met no objection for this long is no longer limited. */
const rateKeptHours = 24;
/** States that no worker changed for this long are deleted: the host is then new again. */
const keptDays = 90;

/** The live workers with direct delivery besides this one, and how many of them precede it. */
export type Workers = { others: number; before: number };

/** What was learned from the replies of a destination, over all workers. */
export type Learned = {
  connections: number;
  perMinute: number | null;
  /** Accepted transactions; null where a destination without history is not started slowly. */
  accepted: number | null;
  objections: number;
};

/** The operator's limits; null: no limit. */
export type OperatorLimit = { dialogues: number | null; perMinute: number | null };

export type ReadDestination = {
  name: string;
  limit: OperatorLimit;
  workers: Workers;
  /** Null for a destination without history. */
  learned: Learned | null;
  blockedForMs: number;
};

type Row = Learned &
  Workers & {
    name: string;
    connectionsMax: number | null;
    limitPerMinute: number | null;
    blockedForMs: number | null;
    isKnown: boolean;
  };

const STATE = `case when s.objected_at > now() - ${rateKeptHours} * interval '1 h' then s.per_minute end as "perMinute",
  s.connections, s.accepted::float8 as accepted, s.objections,
  greatest(0, ceil(extract(epoch from s.blocked_until - now()) * 1000))::int as "blockedForMs"`;

const READ = `
select n.name, s.destination is not null as "isKnown", ${STATE},
  l.connections_max as "connectionsMax", l.per_minute as "limitPerMinute", w.others, w.before
from unnest($1::text[]) as n(name)
left join destination_limits l on l.domain = n.name
left join destination_states s on s.source = $2 and s.destination = n.name
cross join (
  select count(*)::int as others, (count(*) filter (where id < $3::uuid))::int as before from workers
  where id <> $3::uuid and transport = 'direct' and beat_at > now() - ${beatSecondsMax} * interval '1 s') w`;

/** What applies to these destinations, and to recipients' domains with limits of the operator, by name. */
export async function readDestinations(
  hot: HotSql,
  { source, workerId, names }: { source: string; workerId: string; names: readonly string[] },
): Promise<Map<string, ReadDestination>> {
  const rows = await runPrepared<Row>(hot, READ, [names, source, workerId]);
  return new Map(
    rows.map(
      ({ name, connectionsMax, limitPerMinute, others, before, isKnown, blockedForMs, ...learned }) => [
        name,
        {
          name,
          limit: { dialogues: connectionsMax, perMinute: limitPerMinute },
          workers: { others, before },
          learned: isKnown ? learned : null,
          blockedForMs: blockedForMs ?? 0,
        },
      ],
    ),
  );
}

/**
 * A worker's share of a limit over all workers. Connections are divided into whole numbers, so that all
 * workers together never exceed the limit: with more workers than connections, some workers get none.
 */
export const shareOf = (limit: number, { others, before }: Workers): number =>
  Math.floor(limit / (others + 1)) + (before < limit % (others + 1) ? 1 : 0);

/** What a worker has learned of a destination since its last report. */
export type DestinationChange = {
  source: string;
  destination: string;
  /** Connections of a destination without history. */
  start: number;
  accepted: number;
  /** By how many connections the limit is raised. */
  raised: number;
  objection: { reply: string; startedMsAgo: number; perMinute: number } | null;
};

type Changes = { changes: readonly DestinationChange[] };

const addNew = writeStatement<Changes>(
  ({ rows }) => `
insert into destination_states (source, destination, connections)
select * from ${rows("changes", {
    source: ["text", "source"],
    destination: ["text", "destination"],
    connections: ["int", "start"],
  })} as c
where not exists (select from destination_states s where (s.source, s.destination) = (c.source, c.destination))
order by 1, 2 on conflict do nothing`,
);

const change = writeStatement<Changes, Learned & { destination: string; blockedForMs: number | null }>(
  ({ rows }) => `
with mine as materialized (
  select s.source, s.destination, c.accepted, c.raised, c.reply, c.seen,
    c.reply is not null and coalesce(s.objected_at < now() - c.age_ms * interval '1 ms', true) as is_lowered
  from ${rows("changes", {
    source: ["text", "source"],
    destination: ["text", "destination"],
    accepted: ["int", "accepted"],
    raised: ["int", "raised"],
    reply: ["text", ({ objection }) => objection?.reply],
    seen: ["float8", ({ objection }) => objection?.perMinute],
    age_ms: ["float8", ({ objection }) => objection?.startedMsAgo],
  })} as c join destination_states s using (source, destination)
  order by s.source, s.destination for no key update of s
)
update destination_states s
set updated_at = now(), accepted = s.accepted + c.accepted,
  connections = case when is_lowered then greatest(1, s.connections / 2)
    else least(s.connections + c.raised, ${destinationLimitMax}) end,
  per_minute = case when is_lowered then greatest(${rateLimit.min}, least(s.per_minute, c.seen) / 2)
    when s.per_minute + c.accepted <= ${rateLimit.free} then s.per_minute + c.accepted end,
  objections = case when is_lowered then s.objections + 1 when c.accepted > 0 and s.blocked_until <= now() then 0 else s.objections end,
  reason = case when is_lowered then c.reply else s.reason end,
  objected_at = case when is_lowered then now() else s.objected_at end,
  blocked_until = case when is_lowered then now() +
    least(${blockSeconds.first} * 2 ^ least(s.objections, 10), ${blockSeconds.max}) * interval '1 s' else s.blocked_until end
from mine c where (s.source, s.destination) = (c.source, c.destination)
returning s.destination, ${STATE}`,
);

/**
 * Records changes, at most one of a destination, and returns the new states. Nothing is lowered twice for
 * dialogues that ran at the same time: one that began before the last objection says nothing about the limits
 * since.
 */
export async function recordDestinations(hot: HotSql, changes: readonly DestinationChange[]) {
  await addNew(hot, { changes });
  return change(hot, { changes });
}

/** Deletes the states that no worker changed for 90 days. */
export async function deleteOldDestinations(hot: HotSql): Promise<void> {
  await hot`delete from destination_states where updated_at < now() - ${keptDays} * interval '1 day'`;
}
