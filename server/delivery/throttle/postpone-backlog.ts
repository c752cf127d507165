import type { HotSql } from "#db/client";
import { writeStatement } from "#db/statement";
import { IS_WAITING } from "#server/services/pauses/waiting";

/** SQL: the first `limit` due rows of each priority in a team's queue, whether or not they are locked. */
export const queueHead = (team: string, limit: string) => `
  select h.* from (values (0), (1), (2)) as p(rank) cross join lateral (
    select q.id, q.team_id, q.email_id from queue q
    where ${IS_WAITING} and q.team_id = ${team} and q.priority = p.rank and q.due_at <= now()
    order by q.due_at, q.id limit ${limit}) h`;

/**
 * New due times: the first delivery after `waitMs`, each next one `stepMs` later, none later than `maxMs`
 * from now.
 */
export type BacklogSchedule = { waitMs: number; stepMs: number; maxMs: number };

/** A destination, and the domains of the recipients whose email waits for it. */
export type Postponed = { teamId: string; destination: string; domains: ReadonlySet<string> };

/**
 * Postpones the next deliveries in a team's queue for one destination. They then block no other delivery and
 * are not claimed only to be released again. Reads up to `limit` rows of each priority. Returns how many were
 * postponed.
 */
export async function postponeBacklog(
  hot: HotSql,
  { teamId, destination, domains }: Postponed,
  { waitMs, stepMs, maxMs }: BacklogSchedule,
  limit: number,
): Promise<number> {
  const values = [teamId, [...domains], waitMs, stepMs, maxMs, limit];
  return hot.begin(async (tx) => {
    const rows = await tx.unsafe<{ id: string }[]>(POSTPONE_BACKLOG, values);
    await setDestination(tx, { rows: rows.map(({ id }) => ({ id, destination })) });
    return rows.length;
  });
}

/**
 * Records in the queue which destination these postponed deliveries wait for. Whatever makes a delivery due
 * again also clears it (`db/functions/queue.sql`).
 */
export const setDestination = writeStatement<{ rows: readonly { id: string; destination: string }[] }>(
  ({ rows }) => `
update queue q set destination = r.destination
from ${rows("rows", { id: ["uuid", "id"], destination: ["text", "destination"] })} as r
where q.id = r.id and q.lease_token is null`,
);

const POSTPONE_BACKLOG = `
with head as materialized (${queueHead("$1", "$6")}
), mine as materialized (
  select d.team_id, d.email_id, d.id, d.priority, d.due_at from head h join deliveries d using (team_id, email_id, id)
  where d.domain = any($2::text[]) and d.status = 'queued' and d.due_at <= now()
  order by d.id for no key update of d skip locked
), line as (
  select team_id, email_id, id, row_number() over (order by priority, due_at, id) - 1 as n from mine
)
update deliveries d
set due_at = now() + least($3::float8 + n * $4::float8, $5::float8) * interval '1 ms', wait_rule = 'destination_throttled',
    updated_at = now()
from line where (d.team_id, d.email_id, d.id) = (line.team_id, line.email_id, line.id) returning d.id`;

/**
 * Makes up to `limit` deliveries due that wait for a destination, the highest priority first. Returns how
 * many.
 */
export async function releaseWaiting(hot: HotSql, destination: string, limit: number): Promise<number> {
  const { count } = await hot.unsafe(RELEASE_WAITING, [destination, limit], { prepare: true });
  return count;
}

const RELEASE_WAITING = `
with head as materialized (
  select team_id, email_id, id from queue
  where destination = $1 and lease_token is null order by priority, due_at, id limit $2
), mine as materialized (
  select d.team_id, d.email_id, d.id from head h join deliveries d using (team_id, email_id, id)
  where d.status = 'queued' order by d.id for no key update of d skip locked
)
update deliveries d set due_at = now(), wait_rule = null, updated_at = now()
from mine where (d.team_id, d.email_id, d.id) = (mine.team_id, mine.email_id, mine.id)`;
