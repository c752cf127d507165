import type { HotSql } from "#db/client";
import type { CapRule, DeliveryKey, PauseRule } from "#db/schema/deliveries";
import { runPrepared, writeStatement } from "#db/statement";
import { lockEmails, refreshEmailStatus } from "#server/services/emails/status";
import { STOPPED_TEAMS } from "#server/services/pauses/stopped-teams";
import { IS_WAITING, WAITING } from "#server/services/pauses/waiting";
import { IS_NOT_SUPPRESSED } from "#server/services/suppressions/blocking";
import { foldAddress } from "#server/shared/text/fold-address";
import { setDestination } from "../throttle/postpone-backlog";
import type { Lease } from "./runner";

/** Default duration of a lease unless renewed. The claims of a dead worker are recovered after it. */
export const leaseMs = 60_000;

/** The lease of a delivery. */
export type DeliveryLease = Lease & DeliveryKey;

export type Claim = DeliveryLease & {
  address: string;
  domain: string;
  /** Counted at the claim: the first attempt is 1. */
  attempt: number;
  /** Result of the previous attempt as a readable sentence; null before the first. */
  lastReason: string | null;
};

/** A claim. `hasMoreDue` is true if its team used its full share and may have more due deliveries. */
export type FairClaim = Claim & { hasMoreDue: boolean };

/**
 * Claims up to `limit` due deliveries in one statement: sets a lease, counts the attempt and commits. Each
 * team with due deliveries gets an equal share; with more teams than rows, teams are chosen at random. A
 * share is filled by priority, then by due time. Lower priorities have reserved parts of it
 * (`RESERVED_SHARES`): high-priority email never blocks them. Rows locked by another worker are skipped, and
 * so are stopped teams and suspects (see `claimSuspects`). A scheduled delivery can be claimed from its
 * scheduled time on. `maxByTeam` limits the share of individual teams.
 */
export async function claimDeliveries(
  hot: HotSql,
  {
    limit,
    leaseToken,
    forMs = leaseMs,
    maxByTeam = new Map(),
  }: { limit: number; leaseToken: string; forMs?: number; maxByTeam?: ReadonlyMap<string, number> },
): Promise<FairClaim[]> {
  const most = [[...maxByTeam.keys()], [...maxByTeam.values()]];
  return runPrepared<FairClaim>(hot, CLAIM_FAIR_SHARES, [leaseToken, limit, forMs, ...most]);
}

/**
 * Part of a team's share reserved for a priority. If that is less than one row, it is the probability of
 * getting one.
 */
const RESERVED_SHARES = { normal: 0.2, low: 0.1 } as const;

/** Whether one of the teams used its full share and may have more due deliveries. */
export const hasMoreDue = (claims: readonly FairClaim[]): boolean => claims.some((claim) => claim.hasMoreDue);

/**
 * Claims the suspect email with the earliest due time, with up to `limit` of its deliveries. A suspect is a
 * delivery whose lease expired three times, so it may crash its workers. A worker claims one suspect email at
 * a time: the email that causes the crashes is isolated, and the deliveries that were in progress beside it
 * are not failed with it.
 */
export async function claimSuspects(
  hot: HotSql,
  { limit, leaseToken, forMs = leaseMs }: { limit: number; leaseToken: string; forMs?: number },
): Promise<FairClaim[]> {
  return runPrepared<FairClaim>(hot, CLAIM_SUSPECTS, [leaseToken, limit, forMs]);
}

/**
 * SQL: leases the rows in `due`, and returns their deliveries, which are read by their keys: with a join, a
 * plan for few rows reads all that wait.
 */
const CLAIM_DUE = `, claimed as (
    update queue q
    set stage = 'claimed', attempts = q.attempts + 1, lease_token = $1, due_at = now() + $3::int * interval '1 ms'
    from due where q.id = due.id
    returning q.team_id, q.email_id, q.id, q.attempts, q.lease_token, due.more
  )
  select d.id, d.team_id as "teamId", d.email_id as "emailId", d.address, d.domain, c.attempts as attempt,
    c.lease_token as "leaseToken", d.last_reason as "lastReason", c.more as "hasMoreDue"
  from claimed c cross join lateral (
    select * from deliveries d where (d.team_id, d.email_id, d.id) = (c.team_id, c.email_id, c.id) offset 0
  ) d where d.status in ('queued', 'scheduled')`;

/** SQL: the teams that send nothing. Paused domains: `throttle/pauses.ts`. */
const PAUSED_TEAMS = `paused as materialized (${STOPPED_TEAMS})`;
const isTeamActive = (row: string) =>
  `not exists (select from paused p where p.team_id is null or p.team_id = ${row}.team_id)`;

/**
 * SQL: an array of a team's due deliveries of one priority, oldest first and locked. `limit` is an SQL
 * expression.
 */
const oldestOf = (rank: 0 | 1 | 2, limit: string) => `array(
      select q.id from queue q
      where ${IS_WAITING} and q.team_id = t.team_id and q.priority = ${rank} and q.due_at <= now()
      order by q.due_at, q.id limit ${limit} for update skip locked)`;

// The limits of `lapses` are literals, not parameters, because the planner can then use the partial indexes.
//
// A claim costs one index step per waiting (team, priority) and one per claimed row, however long the queues
// are.
const CLAIM_FAIR_SHARES = `
  with recursive ${PAUSED_TEAMS}, ${WAITING}, team as (
    select team_id, least(greatest(1, $2::int / (count(*) over ())::int), min(m.most)) as share,
      bool_or(priority = 0) as has_high, bool_or(priority = 1) as has_normal, bool_or(priority = 2) as has_low
    from waiting left join unnest($4::uuid[], $5::int[]) as m(team_id, most) using (team_id)
    where due_at <= now() and ${isTeamActive("waiting")} group by team_id
    order by random() limit $2
  ), shared as materialized (
    select team.*, case when has_low then floor(share * ${RESERVED_SHARES.low} + random())::int else 0 end as for_low,
      case when has_normal then floor(share * ${RESERVED_SHARES.normal} + random())::int else 0 end as for_normal
    from team
  ), high as materialized (
    select t.*, ${oldestOf(0, "case when t.has_high then greatest(0, t.share - t.for_low - t.for_normal) else 0 end")} as high
    from shared t
  ), normal as materialized (
    select t.*, ${oldestOf(1, "case when t.has_normal then greatest(0, t.share - t.for_low - cardinality(t.high)) else 0 end")} as normal
    from high t
  ), low as materialized (
    select t.*, ${oldestOf(2, "case when t.has_low then greatest(0, t.share - cardinality(t.high) - cardinality(t.normal)) else 0 end")} as low
    from normal t
  ), due as materialized (
    select o.id, has_high and cardinality(high) >= share - for_low - for_normal
      or has_normal and cardinality(normal) >= share - for_low - cardinality(high)
      or has_low and cardinality(low) >= share - cardinality(high) - cardinality(normal) as more
    from low cross join lateral unnest(high || normal || low) as o(id)
  )${CLAIM_DUE}`;

const CLAIM_SUSPECTS = `
  with ${PAUSED_TEAMS}, due as materialized (
    select id, false as more from queue
    where due_at <= now() and lapses >= 3 and lease_token is null and (team_id, email_id) = (
      select team_id, email_id from queue s
      where due_at <= now() and lapses >= 3 and lease_token is null and ${isTeamActive("s")}
      order by due_at, id limit 1)
    order by due_at, id limit $2 for update skip locked
  )${CLAIM_DUE}`;

// Every statement that changes leased rows locks them in id order first. Renewals, hand-overs and results of
// one worker often touch the same rows at the same time, and the fixed order prevents deadlocks. Statements
// that lock other rows use the same order, or skip locked rows.

/**
 * Commits that a dialogue is about to start for these deliveries. If the worker dies after this, their
 * outcome is unknown: the team's policy decides whether they are retried. Returns the ids that may start. The
 * others must not be sent: their lease was lost, or their address was suppressed after the claim.
 */
export async function markHandedOver(
  hot: HotSql,
  leased: (DeliveryLease &
    Pick<Claim, "address"> & { offersUnsubscribe?: boolean; listName?: string | null })[],
): Promise<Set<string>> {
  const rows = await hot<{ id: string }[]>`
    with mine as materialized (
      select d.id
      from unnest(${leased.map(({ id }) => id)}::uuid[], ${leased.map((row) => row.leaseToken)}::uuid[],
                  ${leased.map(({ address }) => foldAddress(address))}::text[],
                  ${leased.map(({ offersUnsubscribe }) => String(offersUnsubscribe === true))}::bool[],
                  ${leased.map(({ listName }) => listName ?? null)}::text[])
        as h(id, lease_token, address, offers_unsubscribe, list_name)
      join queue d using (id, lease_token)
      where d.due_at > now() and ${hot.unsafe(IS_NOT_SUPPRESSED)}
      order by d.id for no key update of d
    )
    update queue q set stage = 'handed_over' from mine where q.id = mine.id returning q.id`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Renews all leases of a worker in one statement. An expired lease stays lost. Returns the number of renewed
 * rows.
 */
export async function renewLeases(hot: HotSql, leaseTokens: string[], forMs = leaseMs): Promise<number> {
  const { count } = await hot`
    with mine as materialized (
      select id from queue where lease_token = any(${leaseTokens}::uuid[]) and due_at > now()
      order by id for no key update
    )
    update queue q set due_at = now() + ${forMs} * interval '1 ms' from mine where q.id = mine.id`;
  return count;
}

/**
 * Releases deliveries whose dialogue never started, without counting the attempt. They are due immediately or
 * after `waitMs`; with `no_transport` they are parked until a worker with a transport calls
 * `releaseWithoutTransport`, and with a `pauseId` until that pause ends. They may have been handed over
 * already: only the worker that holds the lease can be sure that no dialogue started.
 */
export async function releaseClaims(
  hot: HotSql,
  claims: readonly (DeliveryLease & Release)[],
): Promise<number> {
  return hot.begin(async (tx) => {
    const parents = await lockEmails(tx, claims);
    const { count } = await release(tx, { claims });
    const rows = claims.flatMap(({ id, destination }) => (destination ? [{ id, destination }] : []));
    if (rows.length > 0) await setDestination(tx, { rows });
    await refreshEmailStatus(tx, parents);
    return count;
  });
}

export type ReleaseRule =
  | "released"
  | "no_transport"
  | "destination_throttled"
  | "relay_paused"
  | CapRule
  | PauseRule;
/**
 * `pauseId`: the pause of a domain, until whose end the delivery is postponed. `destination`: what it waits
 * for, with the rule `destination_throttled`.
 */
export type Release = { rule: ReleaseRule; waitMs?: number; pauseId?: string; destination?: string };

const release = writeStatement<{ claims: readonly (DeliveryLease & Release)[] }>(
  ({ rows }) => `
with released as materialized (
  select * from ${rows("claims", {
    team_id: ["uuid", "teamId"],
    email_id: ["uuid", "emailId"],
    id: ["uuid", "id"],
    lease_token: ["uuid", ({ leaseToken }) => leaseToken],
    rule: ["text", ({ rule }) => rule],
    wait_ms: ["int", ({ waitMs }) => waitMs ?? 0],
    pause_id: ["uuid", ({ pauseId }) => pauseId],
  })} as r
), pause as materialized (
  -- Locked, so that a resume either waits for this release or is seen here.
  select id from queue_pauses where id in (select pause_id from released) and lifted_at is null for share
), leased as materialized (
  select q.id, r.team_id, r.email_id, r.wait_ms,
    case when r.pause_id is null or r.pause_id in (select id from pause) then r.rule else 'released' end as rule
  from released r join queue q using (id, lease_token)
  order by q.id for update of q
), ended as (
  delete from queue q using leased where q.id = leased.id
  returning leased.*
)
update deliveries d
set status = 'queued', wait_rule = e.rule, updated_at = now(),
    due_at = case when e.rule in ('no_transport', 'domain_paused') then 'infinity'
      else now() + e.wait_ms * interval '1 ms' end
from ended e where (d.team_id, d.email_id, d.id) = (e.team_id, e.email_id, e.id)`,
);

/** Makes up to `limit` parked deliveries (`no_transport`) due again. Returns how many. */
export async function releaseWithoutTransport(hot: HotSql, limit: number): Promise<number> {
  const { count } = await hot`
    update deliveries set due_at = now(), wait_rule = null
    where (team_id, email_id, id) in (
      select team_id, email_id, id from deliveries
      where status = 'queued' and due_at = 'infinity' and wait_rule = 'no_transport'
      limit ${limit} for update skip locked)`;
  return count;
}
