import type { HotSql } from "./client";
import { foldAddress } from "./fold-address";
import type { CapRule } from "./schema/deliveries";
import { lockEmailsOf, refreshEmailStatus } from "./summary";

/** A claim lasts this long unless renewed or told otherwise; a worker that dies is found out after it. */
export const leaseMs = 60_000;

export type Claim = {
  id: string;
  teamId: string;
  emailId: string;
  address: string;
  domain: string;
  /** Counted at the claim: the first attempt is 1. */
  attempt: number;
  leaseToken: string;
  /** What the attempt before came to, in a sentence for people; null before the first. */
  lastReason: string | null;
};

/** A claim, and whether its team may have had more that is due than what it was given. */
export type SharedClaim = Claim & { mayLeaveMore: boolean };

/**
 * Takes up to `limit` due deliveries by one statement: sets a lease, counts the attempt and commits. Every team that has
 * something due gets the same share; where there are more such teams than rows to take, lots are drawn. A team's share is
 * filled by priority, and by age within one; but what is due of a lower priority has places of its own (`PLACES_KEPT`),
 * so that no amount of urgent mail stops it. Rows that another worker is just taking are passed over, and so are suspects.
 * Scheduled mail can be claimed when its time has come.
 */
export async function claimDeliveries(
  hot: HotSql,
  { limit, leaseToken, forMs = leaseMs }: { limit: number; leaseToken: string; forMs?: number },
): Promise<SharedClaim[]> {
  return hot.unsafe<SharedClaim[]>(CLAIM_BY_TURNS, [leaseToken, limit, forMs], {
    prepare: hot.options.prepare,
  });
}

/** Of its team's share, kept for what is due of that priority; of less than one place it is the chance to get it. */
const PLACES_KEPT = { normal: 0.2, low: 0.1 } as const;

/** Whether one of the teams used up its share, and so may have more that is due. */
export const mayLeaveMore = (claims: readonly SharedClaim[]): boolean =>
  claims.some((claim) => claim.mayLeaveMore);

/**
 * Takes the suspect mail that is due longest, with up to `limit` of its recipients. A suspect is a delivery that
 * outlived three workers. A worker takes one such mail at a time, so that a mail that kills its worker is in the end
 * alone with its guilt, and those that only happened to be there are not given up with it.
 */
export async function claimSuspectMail(
  hot: HotSql,
  { limit, leaseToken, forMs = leaseMs }: { limit: number; leaseToken: string; forMs?: number },
): Promise<SharedClaim[]> {
  return hot.unsafe<SharedClaim[]>(CLAIM_SUSPECTS, [leaseToken, limit, forMs], {
    prepare: hot.options.prepare,
  });
}

const TAKE_DUE = `
  update deliveries d
  set status = 'sending', stage = 'claimed', attempts = d.attempts + 1, lease_token = $1,
      leased_until = now() + $3::int * interval '1 ms', wait_rule = null, updated_at = now()
  from due where d.id = due.id
  returning d.id, d.team_id as "teamId", d.email_id as "emailId", d.address, d.domain, d.attempts as attempt,
            d.lease_token as "leaseToken", d.last_reason as "lastReason", due.more as "mayLeaveMore"`;

/** A team's rows of one priority, oldest first and locked, as many as the expression says. */
const oldestOf = (rank: 0 | 1 | 2, limit: string) => `array(
      select d.id from deliveries d
      where d.status in ('queued', 'scheduled') and d.lapses < 3 and d.team_id = t.team_id and d.priority = ${rank}
        and d.due_at <= now()
      order by d.due_at, d.id limit ${limit} for update skip locked)`;

// The number of lapses stands in the text, and not among the parameters, for the planner to see the index of each kind.
//
// From one team and priority that wait to the next is one step through the index of turns, however much each of them has:
// the entry that is due first comes first. So a claim costs a step for each of them, and one for each row it takes.
const CLAIM_BY_TURNS = `
  with recursive waiting as (
    (select team_id, priority, due_at from deliveries where status in ('queued', 'scheduled') and lapses < 3
     order by team_id, priority, due_at, id limit 1)
    union all
    select n.team_id, n.priority, n.due_at from waiting w cross join lateral (
      select d.team_id, d.priority, d.due_at from deliveries d
      where d.status in ('queued', 'scheduled') and d.lapses < 3 and (d.team_id, d.priority) > (w.team_id, w.priority)
      order by d.team_id, d.priority, d.due_at, d.id limit 1) n
  ), team as (
    select team_id, greatest(1, $2::int / (count(*) over ())::int) as share, bool_or(priority = 0) as has_high,
      bool_or(priority = 1) as has_normal, bool_or(priority = 2) as has_low
    from waiting where due_at <= now() group by team_id
    order by random() limit $2
  ), turn as materialized (
    select team.*, case when has_low then floor(share * ${PLACES_KEPT.low} + random())::int else 0 end as for_low,
      case when has_normal then floor(share * ${PLACES_KEPT.normal} + random())::int else 0 end as for_normal
    from team
  ), high as materialized (
    select t.*, ${oldestOf(0, "case when t.has_high then greatest(0, t.share - t.for_low - t.for_normal) else 0 end")} as high
    from turn t
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
  )${TAKE_DUE}`;

const CLAIM_SUSPECTS = `
  with due as materialized (
    select id, false as more from deliveries
    where due_at <= now() and status = 'queued' and lapses >= 3 and (team_id, email_id) = (
      select team_id, email_id from deliveries where status = 'queued' and due_at <= now() and lapses >= 3
      order by due_at, id limit 1)
    order by due_at, id limit $2 for update skip locked
  )${TAKE_DUE}`;

export type Held = Pick<Claim, "id" | "leaseToken">;

// A lease says all: a row that is not being sent has none. To ask for its status as well would tempt the planner to walk
// the index of leases for each row instead of going to the row by its id.
//
// Every statement that changes claimed rows locks them in the order of their ids before it writes: renewals, hand-overs
// and results of one worker meet on the same rows all the time, and must never wait for each other in a circle.

/**
 * Commits that a dialogue is about to begin for these rows. From here on a worker that dies leaves them unknown, not
 * retryable. Tells which may begin; the others belong to another worker now, or their address was suppressed since they
 * were claimed, and must not be sent.
 */
export async function markHandedOver(
  hot: HotSql,
  held: (Held & Pick<Claim, "address"> & { offersUnsubscribe?: boolean })[],
): Promise<Set<string>> {
  const rows = await hot<{ id: string }[]>`
    with mine as materialized (
      select d.id
      from unnest(${held.map(({ id }) => id)}::uuid[], ${held.map((row) => row.leaseToken)}::uuid[],
                  ${held.map(({ address }) => foldAddress(address))}::text[],
                  ${held.map(({ offersUnsubscribe }) => String(offersUnsubscribe === true))}::bool[])
        as h(id, lease_token, address, offers_unsubscribe)
      join deliveries d on d.id = h.id and d.lease_token = h.lease_token
      where d.leased_until > now()
        and not exists (select from suppressions s where s.team_id = d.team_id and s.address = h.address
          and (h.offers_unsubscribe or not s.lists_only))
      order by d.id for no key update of d
    )
    update deliveries d set stage = 'handed_over', updated_at = now() from mine where d.id = mine.id
    returning d.id`;
  return new Set(rows.map(({ id }) => id));
}

/** Prolongs all claims of a worker in one statement. A lease that ran out stays lost. Tells how many were prolonged. */
export async function renewLeases(hot: HotSql, leaseTokens: string[], forMs = leaseMs): Promise<number> {
  const { count } = await hot`
    with mine as materialized (
      select id from deliveries
      where lease_token = any(${leaseTokens}::uuid[]) and status = 'sending' and leased_until > now()
      order by id for no key update
    )
    update deliveries d set leased_until = now() + ${forMs} * interval '1 ms' from mine where d.id = mine.id`;
  return count;
}

/**
 * Gives back rows whose dialogue never began, without counting the attempt: due at once or `waitMs` from now, or parked
 * where nothing can be attempted (`no_transport`) until a worker that can deliver takes them back. Rows that were handed over may be among
 * them: the worker that holds them is the one to know that no word was said.
 */
export async function releaseClaims(
  hot: HotSql,
  held: (Held & { waitMs?: number })[],
  why: "released" | "no_transport" | "destination_pace" | "relay_paused" | CapRule,
): Promise<number> {
  const ids = held.map(({ id }) => id);
  return hot.begin(async (tx) => {
    const parents = await lockEmailsOf(tx, ids);
    const { count } = await tx.unsafe(RELEASE_CLAIMS, [
      ids,
      held.map(({ leaseToken }) => leaseToken),
      why,
      held.map(({ waitMs = 0 }) => waitMs),
    ]);
    await refreshEmailStatus(tx, parents);
    return count;
  });
}

const RELEASE_CLAIMS = `
with mine as materialized (
  select d.id, h.wait_ms from unnest($1::uuid[], $2::uuid[], $4::int[]) as h(id, lease_token, wait_ms)
  join deliveries d on d.id = h.id and d.lease_token = h.lease_token
  order by d.id for no key update of d
)
update deliveries d
set status = 'queued', stage = 'idle', lease_token = null, leased_until = null, attempts = d.attempts - 1,
    wait_rule = $3, due_at = case when $3 = 'no_transport' then 'infinity' else now() + mine.wait_ms * interval '1 ms' end,
    updated_at = now()
from mine where d.id = mine.id`;

/** Makes mail due again that waited for a transport. Up to `limit` rows a call; tells how many. */
export async function unparkDeliveries(hot: HotSql, limit: number): Promise<number> {
  const { count } = await hot`
    update deliveries set due_at = now(), wait_rule = null
    where id in (select id from deliveries where status = 'queued' and due_at = 'infinity' and wait_rule = 'no_transport'
                 limit ${limit} for update skip locked)`;
  return count;
}
