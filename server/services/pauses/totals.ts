import { sql } from "drizzle-orm";
import type { Deps } from "#server/deps";
import { IS_WAITING, WAITING } from "./waiting";

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

const STATE = sql`case when lease_token is not null then 'sending' when status = 'scheduled' then 'scheduled'
  when attempts > 0 then 'deferred' else 'queued' end`;

/**
 * The deliveries in the queue of a team, or of all teams if it is null. It reads at most `max` of them.
 */
export async function countQueue(
  { db }: Pick<Deps, "db">,
  teamId: string | null,
  max: number,
): Promise<QueueTotals> {
  const own = teamId === null ? sql`true` : sql`team_id = ${teamId}`;
  const rows = await db.execute<{ state: QueueState; count: number; first: string | null }>(sql`
    select state, count(*)::int as count,
      nullif(min(due_at) filter (where state <> 'sending'), 'infinity')::text as first
    from (select due_at, ${STATE} as state from queue where ${own} limit ${max}) as waiting group by state`);
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
      with recursive ${sql.raw(WAITING)}
      select ${STATE} as state, first.due_at::text as first from waiting w cross join lateral (
        select * from queue q where ${sql.raw(IS_WAITING)} and q.team_id = w.team_id and q.priority = w.priority
        order by q.due_at, q.id limit 1) as first
      where first.due_at <= now() order by first.due_at limit 1`),
  ]);
  if (!oldest) return { states, isComplete };
  const oldestDueAt = new Date(oldest.first);
  return { states: { ...states, [oldest.state]: { ...states[oldest.state], oldestDueAt } }, isComplete };
}
