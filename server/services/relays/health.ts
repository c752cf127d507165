import type { HotSql } from "#db/client";
import type { relays } from "#db/schema/relays";
import { runPrepared } from "#db/statement";

/** A paused relay is tried once per interval, by one worker for all. */
export const relayProbeEveryMs = 60_000;
/** Consecutive connection faults that pause a relay. A login or TLS fault pauses it immediately. */
export const relayFaultsMax = 3;

/** A relay with everything needed to send through it. `url` is sealed. */
export type SendingRelay = Pick<
  typeof relays.$inferSelect,
  "id" | "teamId" | "domainId" | "name" | "url" | "host" | "dkim" | "provider" | "failures" | "lastFault"
> & {
  /** Time until the next attempt, at least 0; null if it is not paused. */
  pausedForMs: number | null;
};

const COLUMNS = `id, team_id as "teamId", domain_id as "domainId", name, url, host, dkim, provider, failures,
  last_fault as "lastFault",
  case when paused_until is not null
    then greatest(0, extract(epoch from paused_until - now()) * 1000)::float8 end as "pausedForMs"`;

/** The relays available to these teams, in the order in which they are tried. */
export async function readRelaysFor(hot: HotSql, teamIds: readonly string[]): Promise<SendingRelay[]> {
  const text = `select ${COLUMNS} from relays where team_id is null or team_id = any($1::uuid[])
    order by position, created_at, id`;
  return runPrepared<SendingRelay>(hot, text, [teamIds]);
}

/**
 * Counts a fault of a relay, and pauses it after `relayFaultsMax` faults or if `isGrave`. Returns whether it
 * is paused, and whether this fault paused it; null if the relay was removed.
 */
export async function recordRelayFault(
  hot: HotSql,
  { id, fault, isGrave }: { id: string; fault: string; isGrave: boolean },
): Promise<{ isPaused: boolean; isNew: boolean } | null> {
  const [row] = await hot<{ isPaused: boolean; isNew: boolean }[]>`
    with before as materialized (select id, paused_until, failures from relays where id = ${id} for no key update)
    update relays r
    set failures = b.failures + 1, last_fault = ${fault}, last_fault_at = now(),
        paused_until = case when b.paused_until is not null then b.paused_until
          when ${isGrave} or b.failures + 1 >= ${relayFaultsMax}::int
          then now() + ${relayProbeEveryMs} * interval '1 ms' end
    from before b where r.id = b.id
    returning r.paused_until is not null as "isPaused",
      b.paused_until is null and r.paused_until is not null as "isNew"`;
  return row ?? null;
}

/** Resets the fault count of a healthy relay. A paused relay stays paused until it was tried. */
export async function recordRelaySuccess(hot: HotSql, id: string): Promise<void> {
  await hot`update relays set failures = 0 where id = ${id} and failures > 0 and paused_until is null`;
}

/**
 * Claims the paused relays that are due to be tried: one worker each, and not again before the next interval.
 */
export async function claimRelayProbes(hot: HotSql, limit: number): Promise<SendingRelay[]> {
  return hot.unsafe<SendingRelay[]>(
    `update relays set paused_until = now() + ${relayProbeEveryMs} * interval '1 ms'
     where id in (select id from relays where paused_until <= now() order by paused_until limit $1
                  for update skip locked)
     returning ${COLUMNS}`,
    [limit],
  );
}

/** Ends the pause of a relay. Returns whether it was paused. */
export async function resumeRelay(hot: HotSql, id: string): Promise<boolean> {
  const { count } = await hot`
    update relays set paused_until = null, failures = 0 where id = ${id} and paused_until is not null`;
  return count > 0;
}

/**
 * Queues deliveries that waited for a transport and now have a relay. Up to `limit` rows; returns their
 * number.
 */
export async function requeueRelayed(hot: HotSql, limit: number): Promise<number> {
  const { count } = await hot`
    update deliveries set due_at = now(), wait_rule = null
    where id in (
      select d.id from deliveries d
      where d.status = 'queued' and d.due_at = 'infinity' and d.wait_rule = 'no_transport'
        and exists (select from relays r where r.team_id is null or (r.team_id = d.team_id and (
          r.domain_id is null or exists (
            select from emails e join domains o on o.team_id = e.team_id and o.name = e.sender_domain
            where e.team_id = d.team_id and e.id = d.email_id and o.id = r.domain_id))))
      limit ${limit} for update of d skip locked)`;
  return count;
}
