import type { HotSql } from "./client";
import { foldAddress } from "./fold-address";
import type { Claim, Held } from "./queue";
import type { CapRule } from "./schema/deliveries";
import { queueHead } from "./set-aside";
import type { HotTransaction } from "./summary";

/*
 * What a day allows a sender's domain and its team. A recipient is counted once a day, when mail to it is handed over: an
 * attempt that is repeated on that day, also after an unknown outcome, costs nothing more, and one on another day counts
 * there. The day is that of the transaction, in UTC.
 */

const TODAY = "(now() at time zone 'utc')::date";

/** Why a recipient has to wait, and for how long. */
export type HeldOver = { rule: CapRule; waitMs: number };

/** Whose day it is: a domain's, or with "" for it the whole team's. */
export type CapScope = { teamId: string; domain: string };

type Asked = Held & Pick<Claim, "teamId" | "address"> & { senderDomain: string; offersUnsubscribe: boolean };
type Room = CapScope & { room: number; rule: CapRule };
type Mine = { id: string; teamId: string; senderDomain: string; isCounted: boolean; waitMs: number };

/**
 * Commits that a dialogue is about to begin, as `markHandedOver` does, for as many of these rows as the day allows their
 * domains and teams, and counts them in the same transaction. The counters are held locked from before they are read until
 * it commits: no two workers count at once, and what is not committed is not counted. Tells which may begin, and of those
 * that may not for want of room by which rule and for how long; the others belong to somebody else now.
 */
export async function handOverWithinCaps(
  hot: HotSql,
  asked: readonly Asked[],
): Promise<{ marked: Set<string>; heldOver: Map<string, HeldOver> }> {
  const { prepare } = hot.options;
  return hot.begin(async (tx) => {
    const rooms = await lockRooms(tx, asked, prepare);
    const mine = await lockAsked(tx, asked, prepare);
    const { fits, heldOver, used } = allot(mine, rooms);
    await tx.unsafe(
      MARK_AND_COUNT,
      [
        fits,
        used.map(({ teamId }) => teamId),
        used.map(({ domain }) => domain),
        used.map(({ added }) => added),
        used.map(({ isFull }) => String(isFull)),
      ],
      { prepare },
    );
    return { marked: new Set(fits), heldOver };
  });
}

/** What is left of today for each domain and team that has a cap, its counter locked. One order for all who lock several. */
async function lockRooms(
  tx: HotTransaction,
  asked: readonly Asked[],
  prepare: boolean | undefined,
): Promise<Room[]> {
  const pairs = new Map<string, CapScope>();
  for (const { teamId, senderDomain: domain } of asked)
    pairs.set(nameOf({ teamId, domain }), { teamId, domain });
  const scopes = [...pairs.values()];
  return tx.unsafe<Room[]>(
    LOCK_ROOMS,
    [scopes.map(({ teamId }) => teamId), scopes.map(({ domain }) => domain)],
    {
      prepare,
    },
  );
}

/** Every cap of today among these teams and domains: the least of what holds, and the rule by which. */
const capsOf = (pairs: string) => `
  select t.id as team_id, '' as domain, t.daily_cap as cap, 'team_daily_cap' as rule
  from (select distinct team_id from ${pairs}) p join teams t on t.id = p.team_id where t.daily_cap is not null
  union all
  select d.team_id, d.name, least(d.daily_cap, w.allows),
    case when w.allows < d.daily_cap or d.daily_cap is null then 'warm_up' else 'daily_cap' end
  from ${pairs} p join domains d on d.team_id = p.team_id and d.name = p.domain
    cross join lateral warm_up_allows(d.warm_up_from, d.warm_up_first, d.warm_up_growth, d.warm_up_target, ${TODAY})
      as w(allows)
  where d.daily_cap is not null or w.allows is not null`;

const LOCK_ROOMS = `
with pair as materialized (
  select * from unnest($1::uuid[], $2::text[]) as p(team_id, domain)
), capped as materialized (${capsOf("pair")}
), counter as (
  insert into sending_days as s (team_id, domain, day)
  select team_id, domain, ${TODAY} from capped order by team_id, domain collate "C"
  on conflict (team_id, domain, day) do update set handed_over = s.handed_over
  returning s.team_id, s.domain, s.handed_over
)
select k.team_id as "teamId", k.domain, greatest(0, c.cap - k.handed_over) as room, c.rule
from counter k join capped c on c.team_id = k.team_id and c.domain = k.domain`;

async function lockAsked(
  tx: HotTransaction,
  asked: readonly Asked[],
  prepare: boolean | undefined,
): Promise<Mine[]> {
  return tx.unsafe<Mine[]>(
    LOCK_ASKED,
    [
      asked.map(({ id }) => id),
      asked.map(({ leaseToken }) => leaseToken),
      asked.map(({ address }) => foldAddress(address)),
      asked.map(({ offersUnsubscribe }) => String(offersUnsubscribe)),
      asked.map(({ senderDomain }) => senderDomain),
    ],
    { prepare },
  );
}

/** To when mail is put that was due at `due`: the first hour of the next day, in the order in which it was due in this one. */
const nextDay = (due: string) => `(
  (${TODAY} + 1)::timestamp + (greatest(${due} at time zone 'utc', ${TODAY}::timestamp) - ${TODAY}::timestamp) / 24
) at time zone 'utc'`;

const LOCK_ASKED = `
select d.id, d.team_id as "teamId", h.sender_domain as "senderDomain",
  d.counted_on is not distinct from ${TODAY} as "isCounted",
  ceil(extract(epoch from ${nextDay("d.due_at")} - now()) * 1000)::int as "waitMs"
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bool[], $5::text[])
  as h(id, lease_token, address, offers_unsubscribe, sender_domain)
join deliveries d on d.id = h.id and d.lease_token = h.lease_token
where d.leased_until > now()
  and not exists (select from suppressions s where s.team_id = d.team_id and s.address = h.address
    and (h.offers_unsubscribe or not s.lists_only))
order by d.id for no key update of d`;

const MARK_AND_COUNT = `
with marked as (
  update deliveries d set stage = 'handed_over', counted_on = ${TODAY}, updated_at = now()
  from unnest($1::uuid[]) as f(id) where d.id = f.id
)
update sending_days s set handed_over = s.handed_over + u.added, held_over = s.held_over or u.is_full
from unnest($2::uuid[], $3::text[], $4::int[], $5::bool[]) as u(team_id, domain, added, is_full)
where s.team_id = u.team_id and s.domain = u.domain and s.day = ${TODAY}`;

/**
 * What is left of today for these teams and their domains, where there is a cap: as it is now, for whoever only wants to
 * know.
 */
export async function readRooms(hot: HotSql, scopes: readonly CapScope[]): Promise<Room[]> {
  return hot.unsafe<Room[]>(
    READ_ROOMS,
    [scopes.map(({ teamId }) => teamId), scopes.map(({ domain }) => domain)],
    { prepare: hot.options.prepare },
  );
}

const READ_ROOMS = `
with pair as materialized (
  select * from unnest($1::uuid[], $2::text[]) as p(team_id, domain)
), capped as materialized (${capsOf("pair")})
select c.team_id as "teamId", c.domain, greatest(0, c.cap - coalesce(s.handed_over, 0)) as room, c.rule
from capped c left join sending_days s on s.team_id = c.team_id and s.domain = c.domain and s.day = ${TODAY}`;

/** Gives out the room, in order, to whom both the domain's and the team's has some left. */
function allot(mine: readonly Mine[], rooms: readonly Room[]) {
  const scopes = new Map(rooms.map((room) => [nameOf(room), { ...room, added: 0, isFull: false }]));
  const fits: string[] = [];
  const heldOver = new Map<string, HeldOver>();
  for (const { id, teamId, senderDomain, isCounted, waitMs } of mine) {
    const both = [
      scopes.get(nameOf({ teamId, domain: senderDomain })),
      scopes.get(nameOf({ teamId, domain: "" })),
    ];
    const full = isCounted ? undefined : both.find((scope) => scope && scope.added >= scope.room);
    if (full) {
      full.isFull = true;
      heldOver.set(id, { rule: full.rule, waitMs });
      continue;
    }
    fits.push(id);
    if (!isCounted) for (const scope of both) if (scope) scope.added++;
  }
  return { fits, heldOver, used: [...scopes.values()] };
}

const nameOf = ({ teamId, domain }: CapScope) => `${teamId} ${domain}`;

/**
 * Moves what waits next in a team's queue to the next day, where it is due from that domain, or from any with "" for it,
 * and the day has no room left: so it stands before no other mail, and is not claimed to be given back. Looks at up to
 * `limit` rows of each priority; tells how many were moved.
 */
export async function holdOver(
  hot: HotSql,
  { teamId, domain }: CapScope,
  rule: CapRule,
  limit: number,
): Promise<number> {
  const rows = await hot.unsafe(HOLD_OVER, [teamId, domain, rule, limit]);
  return rows.count;
}

const HOLD_OVER = `
with head as materialized (${queueHead("$1", "$4")}
  where exists (select from sending_days s where s.team_id = $1 and s.domain = $2 and s.day = ${TODAY} and s.held_over)
), mine as materialized (
  select d.id
  from head h join deliveries d on d.id = h.id join emails e on e.team_id = h.team_id and e.id = h.email_id
  where d.status = 'queued' and d.due_at <= now() and d.domain <> 'posthorn.test'
    and d.counted_on is distinct from ${TODAY} and ($2 = '' or e.sender_domain = $2)
  order by d.id for no key update of d skip locked
)
update deliveries d set due_at = ${nextDay("d.due_at")}, wait_rule = $3, updated_at = now() from mine where d.id = mine.id`;

/**
 * Makes mail due again that waits for the next day though today has room again, since the cap was raised or taken away:
 * as many as there is room for, oldest first and up to `limit` for each domain and team. Tells how many.
 */
export async function letGoHeldOver(hot: HotSql, limit: number): Promise<number> {
  const roomy = await hot.unsafe<(CapScope & { room: number })[]>(FIND_ROOMY, [limit], {
    prepare: hot.options.prepare,
  });
  let letGo = 0;
  for (const { teamId, domain, room } of roomy) {
    let left = room;
    for (const rule of RULES_OF[domain === "" ? "team" : "domain"])
      if (left > 0) left -= (await hot.unsafe(LET_GO, [teamId, domain, rule, left])).count;
    letGo += room - left;
    if (left > 0) await hot.unsafe(NONE_HELD_OVER, [teamId, domain]);
  }
  return letGo;
}

const RULES_OF = {
  domain: ["daily_cap", "warm_up"],
  team: ["team_daily_cap"],
} as const satisfies Record<string, readonly CapRule[]>;

const FIND_ROOMY = `
with pair as materialized (
  select team_id, domain, handed_over from sending_days where day = ${TODAY} and held_over
), capped as materialized (${capsOf("pair")})
select p.team_id as "teamId", p.domain, least($1::int, coalesce(c.cap - p.handed_over, $1::int)) as room
from pair p left join capped c on c.team_id = p.team_id and c.domain = p.domain
where coalesce(c.cap > p.handed_over, true)`;

const LET_GO = `
with mine as materialized (
  select d.id from deliveries d join emails e on e.team_id = d.team_id and e.id = d.email_id
  where d.team_id = $1 and d.status = 'queued' and d.wait_rule in ('daily_cap', 'warm_up', 'team_daily_cap')
    and d.wait_rule = $3 and d.due_at > now() and ($2 = '' or e.sender_domain = $2)
  order by d.due_at, d.id limit $4 for no key update of d skip locked
)
update deliveries d set due_at = now(), wait_rule = null, updated_at = now() from mine where d.id = mine.id`;

const NONE_HELD_OVER = `
update sending_days set held_over = false where team_id = $1 and domain = $2 and day = ${TODAY}`;
