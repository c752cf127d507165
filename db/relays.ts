import type { HotSql } from "./client";
import type { RelayProvider } from "./schema/relays";

/** A paused relay is tried once in this time, by one worker for all. */
export const relayProbeEveryMs = 60_000;
/** So many faults of its connections in a row pause a relay; one of its login or its TLS does at once. */
export const relayFaultsMax = 3;

/** A relay as mail is sent by it. `url` is sealed. */
export type RelayWay = {
  id: string;
  teamId: string | null;
  domainId: string | null;
  name: string;
  url: string;
  host: string;
  dkim: boolean;
  provider: RelayProvider | null;
  /** Until somebody tries it again, not below 0; null while it is not paused. */
  pausedForMs: number | null;
  failures: number;
  lastFault: string | null;
};

const WAY = `id, team_id as "teamId", domain_id as "domainId", name, url, host, dkim, provider, failures,
  last_fault as "lastFault",
  case when paused_until is not null
    then greatest(0, extract(epoch from paused_until - now()) * 1000)::float8 end as "pausedForMs"`;

/** The relays that mail of these teams may go by, in the order in which they are tried. */
export async function readRelaysFor(hot: HotSql, teamIds: readonly string[]): Promise<RelayWay[]> {
  return hot.unsafe<RelayWay[]>(
    `select ${WAY} from relays where team_id is null or team_id = any($1::uuid[]) order by position, created_at, id`,
    [teamIds],
    { prepare: hot.options.prepare },
  );
}

/**
 * Counts a fault of a relay, and pauses it where it is one too many, or `isGrave`. Tells whether it is paused, and whether
 * that is news; null where the relay is gone.
 */
export async function noteRelayFault(
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

/** Forgets the faults of a relay that works. One that is paused stays so until it was tried. */
export async function noteRelayWorks(hot: HotSql, id: string): Promise<void> {
  await hot`update relays set failures = 0 where id = ${id} and failures > 0 and paused_until is null`;
}

/** Takes the right to try paused relays whose time has come: one taker for each, and none again before the next time. */
export async function takeRelayProbes(hot: HotSql, limit: number): Promise<RelayWay[]> {
  return hot.unsafe<RelayWay[]>(
    `update relays set paused_until = now() + ${relayProbeEveryMs} * interval '1 ms'
     where id in (select id from relays where paused_until <= now() order by paused_until limit $1
                  for update skip locked)
     returning ${WAY}`,
    [limit],
  );
}

/** Ends the pause of a relay. Tells whether there was one. */
export async function resumeRelay(hot: HotSql, id: string): Promise<boolean> {
  const { count } = await hot`
    update relays set paused_until = null, failures = 0 where id = ${id} and paused_until is not null`;
  return count > 0;
}

/** Makes mail due again that waited for a way out and has a relay by now. Up to `limit` rows; tells how many. */
export async function unparkRelayed(hot: HotSql, limit: number): Promise<number> {
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
