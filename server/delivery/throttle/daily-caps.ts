import type { HotSql } from "#db/client";
import type { CapRule, DeliveryKey } from "#db/schema/deliveries";
import { runPrepared, writeStatement } from "#db/statement";
import { type CapScope, capsOf, type Room, TODAY } from "#server/services/caps/today";
import { IS_NOT_SUPPRESSED } from "#server/services/suppressions/blocking";
import { foldAddress } from "#server/shared/text/fold-address";
import type { DeliveryLease } from "../queue/claims";
import { queueHead } from "./postpone-backlog";

/*
 * Daily caps of sender domains and teams. A delivery is counted once a day, when it is handed over. Further
 * attempts on the same day, even after an unknown outcome, are not counted again; an attempt on another day
 * counts for that day. The day is the UTC date of the transaction.
 */

/** The cap that delays a delivery, and for how long. */
export type CapDelay = { rule: CapRule; waitMs: number };

type CapRequest = DeliveryLease & {
  address: string;
  senderDomain: string;
  offersUnsubscribe: boolean;
  listName?: string | null;
};
type LockedDelivery = DeliveryKey & {
  senderDomain: string;
  isCounted: boolean;
  waitMs: number;
};

/**
 * Commits that a dialogue is about to start, like `markHandedOver`, for as many deliveries as the caps of
 * their domains and teams allow, and counts them in the same transaction. The counters stay locked from
 * before the read until the commit: workers count one after another, and only committed hand-overs count.
 * Returns the ids that may start (`started`) and those over a cap with rule and delay (`delayed`). Ids in
 * neither lost their lease or were suppressed.
 */
export async function handOverWithinCaps(
  hot: HotSql,
  requested: readonly CapRequest[],
): Promise<{ started: Set<string>; delayed: Map<string, CapDelay> }> {
  return hot.begin(async (tx) => {
    const rooms = await lockRooms(tx, { requested });
    const { admitted, delayed, used } = allocate(await lockRequested(tx, { requested }), rooms);
    await markAndCount(tx, { admitted, used });
    return { started: new Set(admitted.map(({ id }) => id)), delayed };
  });
}

/**
 * Locks today's counters of each capped domain and team, in a fixed order, and returns what is left of each
 * cap.
 */
const lockRooms = writeStatement<{ requested: readonly CapRequest[] }, Room>(
  ({ rows }) => `
with pair as materialized (
  select distinct team_id, domain from ${rows("requested", {
    team_id: ["uuid", ({ teamId }) => teamId],
    domain: ["text", ({ senderDomain }) => senderDomain],
  })} as p
), capped as materialized (${capsOf("pair")}
), counter as (
  insert into sending_days as s (team_id, domain, day)
  select team_id, domain, ${TODAY} from capped order by team_id, domain collate "C"
  on conflict (team_id, domain, day) do update set handed_over = s.handed_over
  returning s.team_id, s.domain, s.handed_over
)
select k.team_id as "teamId", k.domain, greatest(0, c.cap - k.handed_over) as room, c.rule
from counter k join capped c on c.team_id = k.team_id and c.domain = k.domain`,
);

/**
 * SQL: the new due time on the next day. Today's due times are compressed into its first hour and keep their
 * order.
 */
const nextDay = (due: string) => `(
  (${TODAY} + 1)::timestamp + (greatest(${due} at time zone 'utc', ${TODAY}::timestamp) - ${TODAY}::timestamp) / 24
) at time zone 'utc'`;

const lockRequested = writeStatement<{ requested: readonly CapRequest[] }, LockedDelivery>(
  ({ rows }) => `
select d.id, d.team_id as "teamId", d.email_id as "emailId", h.sender_domain as "senderDomain",
  d.counted_on is not distinct from ${TODAY} as "isCounted",
  ceil(extract(epoch from ${nextDay("d.due_at")} - now()) * 1000)::int as "waitMs"
from ${rows("requested", {
    team_id: ["uuid", "teamId"],
    email_id: ["uuid", "emailId"],
    id: ["uuid", "id"],
    lease_token: ["uuid", ({ leaseToken }) => leaseToken],
    address: ["text", ({ address }) => foldAddress(address)],
    offers_unsubscribe: ["bool", ({ offersUnsubscribe }) => offersUnsubscribe],
    list_name: ["text", ({ listName }) => listName ?? null],
    sender_domain: ["text", ({ senderDomain }) => senderDomain],
  })} as h
join queue q using (id, lease_token) join deliveries d on (d.team_id, d.email_id, d.id) = (h.team_id, h.email_id, h.id)
where q.due_at > now()
  and ${IS_NOT_SUPPRESSED}
order by q.id for no key update of q`,
);

type UsedCap = CapScope & { added: number; isFull: boolean };

const markAndCount = writeStatement<{ admitted: readonly DeliveryKey[]; used: readonly UsedCap[] }>(
  ({ rows }) => `
with admitted as materialized (
  select * from ${rows("admitted", { team_id: ["uuid", "teamId"], email_id: ["uuid", "emailId"], id: ["uuid", "id"] })} as a
), started as (
  update queue q set stage = 'handed_over' from admitted a where q.id = a.id
), counted as (
  update deliveries d set counted_on = ${TODAY}, updated_at = now() from admitted a
  where (d.team_id, d.email_id, d.id) = (a.team_id, a.email_id, a.id)
)
update sending_days s set handed_over = s.handed_over + u.added, held_over = s.held_over or u.is_full
from ${rows("used", {
    team_id: ["uuid", ({ teamId }) => teamId],
    domain: ["text", ({ domain }) => domain],
    added: ["int", ({ added }) => added],
    is_full: ["bool", ({ isFull }) => isFull],
  })} as u
where s.team_id = u.team_id and s.domain = u.domain and s.day = ${TODAY}`,
);

/** Allocates what is left of the caps in order. A delivery needs capacity in both its domain and its team. */
function allocate(mine: readonly LockedDelivery[], rooms: readonly Room[]) {
  const scopes = new Map(rooms.map((room) => [nameOf(room), { ...room, added: 0, isFull: false }]));
  const admitted: DeliveryKey[] = [];
  const delayed = new Map<string, CapDelay>();
  for (const { teamId, emailId, id, senderDomain, isCounted, waitMs } of mine) {
    const capScopes = [
      scopes.get(nameOf({ teamId, domain: senderDomain })),
      scopes.get(nameOf({ teamId, domain: "" })),
    ];
    const full = isCounted ? undefined : capScopes.find((scope) => scope && scope.added >= scope.room);
    if (full) {
      full.isFull = true;
      delayed.set(id, { rule: full.rule, waitMs });
      continue;
    }
    admitted.push({ teamId, emailId, id });
    if (!isCounted) for (const scope of capScopes) if (scope) scope.added++;
  }
  return { admitted, delayed, used: [...scopes.values()] };
}

const nameOf = ({ teamId, domain }: CapScope) => `${teamId} ${domain}`;

/**
 * Postpones the next due deliveries of a domain to the next day if its cap is reached; `""` as domain means
 * the team's cap and all its domains. They then block no other email and are not claimed only to be released.
 * Reads up to `limit` rows of each priority. Returns how many were postponed.
 */
export async function postponeToNextDay(
  hot: HotSql,
  { teamId, domain }: CapScope,
  rule: CapRule,
  limit: number,
): Promise<number> {
  const rows = await hot.unsafe(POSTPONE_TO_NEXT_DAY, [teamId, domain, rule, limit]);
  return rows.count;
}

const POSTPONE_TO_NEXT_DAY = `
with head as materialized (${queueHead("$1", "$4")}
  where exists (select from sending_days s where s.team_id = $1 and s.domain = $2 and s.day = ${TODAY} and s.held_over)
), mine as materialized (
  select d.team_id, d.email_id, d.id
  from head h join deliveries d using (team_id, email_id, id) join emails e on e.team_id = h.team_id and e.id = h.email_id
  where d.status = 'queued' and d.due_at <= now() and d.domain <> 'backstamp.test'
    and d.counted_on is distinct from ${TODAY} and ($2 = '' or e.sender_domain = $2)
  order by d.id for no key update of d skip locked
)
update deliveries d set due_at = ${nextDay("d.due_at")}, wait_rule = $3, updated_at = now() from mine
where (d.team_id, d.email_id, d.id) = (mine.team_id, mine.email_id, mine.id)`;

/**
 * Makes postponed deliveries due again where today's cap has capacity again, because it was raised or
 * removed: as many as fit, oldest first, up to `limit` for each domain and team. Returns how many.
 */
export async function releaseCapped(hot: HotSql, limit: number): Promise<number> {
  const available = await runPrepared<CapScope & { room: number }>(hot, FIND_AVAILABLE, [limit]);
  let released = 0;
  for (const { teamId, domain, room } of available) {
    let left = room;
    for (const rule of RULES_OF[domain === "" ? "team" : "domain"])
      if (left > 0) left -= (await hot.unsafe(RELEASE_CAPPED, [teamId, domain, rule, left])).count;
    released += room - left;
    if (left > 0) await hot.unsafe(CLEAR_HELD_OVER, [teamId, domain]);
  }
  return released;
}

const RULES_OF = {
  domain: ["daily_cap", "warm_up"],
  team: ["team_daily_cap"],
} as const satisfies Record<string, readonly CapRule[]>;

const FIND_AVAILABLE = `
with pair as materialized (
  select team_id, domain, handed_over from sending_days where day = ${TODAY} and held_over
), capped as materialized (${capsOf("pair")})
select p.team_id as "teamId", p.domain, least($1::int, coalesce(c.cap - p.handed_over, $1::int)) as room
from pair p left join capped c on c.team_id = p.team_id and c.domain = p.domain
where coalesce(c.cap > p.handed_over, true)`;

const RELEASE_CAPPED = `
with mine as materialized (
  select d.team_id, d.email_id, d.id from deliveries d join emails e on e.team_id = d.team_id and e.id = d.email_id
  where d.team_id = $1 and d.status = 'queued' and d.wait_rule in ('daily_cap', 'warm_up', 'team_daily_cap')
    and d.wait_rule = $3 and d.due_at > now() and ($2 = '' or e.sender_domain = $2)
  order by d.due_at, d.id limit $4 for no key update of d skip locked
)
update deliveries d set due_at = now(), wait_rule = null, updated_at = now() from mine
where (d.team_id, d.email_id, d.id) = (mine.team_id, mine.email_id, mine.id)`;

const CLEAR_HELD_OVER = `
update sending_days set held_over = false where team_id = $1 and domain = $2 and day = ${TODAY}`;
