import type { HotSql } from "#db/client";
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

/**
 * Postpones the next deliveries in a team's queue for one destination. They then block no other delivery and
 * are not claimed only to be released again. Reads up to `limit` rows of each priority. Returns how many were
 * postponed.
 */
export async function postponeBacklog(
  hot: HotSql,
  { teamId, destination }: { teamId: string; destination: string },
  { waitMs, stepMs, maxMs }: BacklogSchedule,
  limit: number,
): Promise<number> {
  const { count } = await hot.unsafe(POSTPONE_BACKLOG, [teamId, destination, waitMs, stepMs, maxMs, limit]);
  return count;
}

const POSTPONE_BACKLOG = `
with head as materialized (${queueHead("$1", "$6")}
), mine as materialized (
  select d.team_id, d.email_id, d.id, d.priority, d.due_at from head h join deliveries d using (team_id, email_id, id)
  where d.domain = $2 and d.status = 'queued' and d.due_at <= now()
  order by d.id for no key update of d skip locked
), line as (
  select team_id, email_id, id, row_number() over (order by priority, due_at, id) - 1 as n from mine
)
update deliveries d
set due_at = now() + least($3::float8 + n * $4::float8, $5::float8) * interval '1 ms', wait_rule = 'destination_throttled',
    updated_at = now()
from line where (d.team_id, d.email_id, d.id) = (line.team_id, line.email_id, line.id)`;
