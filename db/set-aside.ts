import type { HotSql } from "./client";

/** The `limit` rows of each priority that a team's next claims would take, before it is asked whether they are free. */
export const queueHead = (team: string, limit: string) => `
  select d.* from (values (0), (1), (2)) as p(rank) cross join lateral (
    select q.id, q.team_id, q.email_id, q.domain from deliveries q
    where q.status in ('queued', 'scheduled') and q.lapses < 3 and q.team_id = ${team} and q.priority = p.rank
      and q.due_at <= now()
    order by q.due_at, q.id limit ${limit}) d`;

/** Where in a line mail is put: the first one so long from now, each next one a step later, and none after `mostMs`. */
export type Line = { waitMs: number; stepMs: number; mostMs: number };

/**
 * Puts what waits next in a team's queue for one destination in a line of its own, so that it stands before no other mail,
 * and is not claimed to be given back. Looks at up to `limit` rows of each priority; tells how many were moved.
 */
export async function setAside(
  hot: HotSql,
  { teamId, destination }: { teamId: string; destination: string },
  { waitMs, stepMs, mostMs }: Line,
  limit: number,
): Promise<number> {
  const { count } = await hot.unsafe(SET_ASIDE, [teamId, destination, waitMs, stepMs, mostMs, limit]);
  return count;
}

const SET_ASIDE = `
with head as materialized (${queueHead("$1", "$6")}
  where d.domain = $2
), mine as materialized (
  select d.id, d.priority, d.due_at from head h join deliveries d on d.id = h.id
  where d.status = 'queued' and d.due_at <= now()
  order by d.id for no key update of d skip locked
), line as (
  select id, row_number() over (order by priority, due_at, id) - 1 as n from mine
)
update deliveries d
set due_at = now() + least($3::float8 + n * $4::float8, $5::float8) * interval '1 ms', wait_rule = 'destination_pace',
    updated_at = now()
from line where d.id = line.id`;
