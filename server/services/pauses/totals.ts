import { sql } from "drizzle-orm";
import type { Deps } from "#server/deps";

/** Rows that the counts read; a longer queue is shown as "more than". */
export const queueCountMax = 100_000;

/** The statuses of deliveries in the queue, as everywhere: one is `deferred` after its first attempt. */
export const QUEUE_STATES = ["queued", "sending", "deferred", "scheduled"] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

export type QueueTotals = {
  /** `oldestDueAt`: the earliest time of the next attempt; null while sending, and if there is none. */
  states: Record<QueueState, { count: number; oldestDueAt: Date | null }>;
  /** The counts end at the maximum number of rows. */
  isComplete: boolean;
};

const STATE = sql`case when status = 'scheduled' then 'scheduled' when attempts > 0 then 'deferred' else 'queued' end`;
/** Each has an index, the second one for emails that crashed workers. */
const WAITS = sql`status in ('queued', 'scheduled') and lapses < 3`;
const WAITS_AFTER_CRASHES = sql`status = 'queued' and lapses >= 3`;

/**
 * The deliveries in the queue of a team, or of all teams if it is null. It reads at most `max` entries of
 * each index.
 */
export async function countQueue(
  { db }: Pick<Deps, "db">,
  teamId: string | null,
  max: number,
): Promise<QueueTotals> {
  const own = teamId === null ? sql`true` : sql`team_id = ${teamId}`;
  const rows = await db.execute<{ state: QueueState; count: number; first: string | null }>(sql`
    select state, count(*)::int as count, nullif(min(due_at), 'infinity')::text as first from (
      (select due_at, ${STATE} as state from deliveries where ${own} and ${WAITS} limit ${max})
      union all
      (select due_at, ${STATE} from deliveries where ${own} and ${WAITS_AFTER_CRASHES} limit ${max})
      union all
      (select null, 'sending' from deliveries where ${own} and status = 'sending' limit ${max})
    ) as waiting group by state`);
  const none = { count: 0, oldestDueAt: null };
  const states: QueueTotals["states"] = { queued: none, sending: none, deferred: none, scheduled: none };
  for (const { state, count, first } of rows)
    states[state] = { count, oldestDueAt: first === null ? null : new Date(first) };
  return { states, isComplete: rows.reduce((sum, { count }) => sum + count, 0) < max };
}

/**
 * The deliveries in the queues of all teams. The time of the oldest due delivery is exact for any length of
 * the queue.
 */
export async function getQueueTotals(deps: Pick<Deps, "db">): Promise<QueueTotals> {
  const [{ states, isComplete }, [oldest]] = await Promise.all([
    countQueue(deps, null, queueCountMax),
    deps.db.execute<{ state: QueueState; first: string }>(sql`
      with recursive head as (
        (select team_id, priority, due_at, ${STATE} as state from deliveries where ${WAITS}
         order by team_id, priority, due_at, id limit 1)
        union all
        select n.* from head h cross join lateral (
          select team_id, priority, due_at, ${STATE} as state from deliveries d
          where ${WAITS} and (d.team_id, d.priority) > (h.team_id, h.priority)
          order by d.team_id, d.priority, d.due_at, d.id limit 1) n
      ) select state, due_at::text as first from head where due_at <= now() order by due_at limit 1`),
  ]);
  if (!oldest) return { states, isComplete };
  const oldestDueAt = new Date(oldest.first);
  return { states: { ...states, [oldest.state]: { ...states[oldest.state], oldestDueAt } }, isComplete };
}
