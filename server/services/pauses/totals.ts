import { sql } from "drizzle-orm";
import type { Deps } from "#server/deps";

/** Rows that the counts read; a longer queue is shown as "more than". */
export const queueCountMax = 100_000;

/**
 * `due`: may be claimed now. `delayed`: a rule delays it. `scheduled`: before its time. `in_progress`:
 * claimed by a worker.
 */
export const QUEUE_STATES = ["due", "delayed", "scheduled", "in_progress"] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

export type QueueTotals = {
  states: Record<QueueState, { count: number; oldestDueAt: Date | null }>;
  /** The counts end at `queueCountMax` rows. */
  isComplete: boolean;
};

/**
 * The deliveries of all teams that are not in a final state, with the earliest due time of each state. It
 * reads a bounded number of index entries. The time of the oldest due delivery is exact for any length of the
 * queue.
 */
export async function readQueueTotals({ db }: Pick<Deps, "db">): Promise<QueueTotals> {
  const [rows, [oldest], [claimed]] = await Promise.all([
    db.execute<{ state: QueueState; count: number; first: string | null }>(sql`
      select state, count(*)::int as count, nullif(min(due_at), 'infinity')::text as first from (
        select due_at, case when due_at <= now() then 'due' when status = 'scheduled' then 'scheduled' else 'delayed' end
          as state
        from deliveries where status in ('queued', 'scheduled') and lapses < 3 limit ${queueCountMax}) as waiting
      group by state`),
    db.execute<{ first: string | null }>(sql`
      with recursive head as (
        (select team_id, priority, due_at from deliveries where status in ('queued', 'scheduled') and lapses < 3
         order by team_id, priority, due_at, id limit 1)
        union all
        select n.team_id, n.priority, n.due_at from head h cross join lateral (
          select d.team_id, d.priority, d.due_at from deliveries d
          where d.status in ('queued', 'scheduled') and d.lapses < 3
            and (d.team_id, d.priority) > (h.team_id, h.priority)
          order by d.team_id, d.priority, d.due_at, d.id limit 1) n
      ) select min(due_at)::text as first from head where due_at <= now()`),
    db.execute<{ count: number }>(sql`
      select count(*)::int as count from (
        select from deliveries where status = 'sending' limit ${queueCountMax}) as claimed`),
  ]);
  const none = { count: 0, oldestDueAt: null };
  const states: QueueTotals["states"] = {
    due: none,
    delayed: none,
    scheduled: none,
    in_progress: { count: claimed?.count ?? 0, oldestDueAt: null },
  };
  for (const { state, count, first } of rows)
    states[state] = { count, oldestDueAt: first === null ? null : new Date(first) };
  const oldestDueAt = oldest?.first ?? null;
  if (oldestDueAt !== null) states.due = { ...states.due, oldestDueAt: new Date(oldestDueAt) };
  const counted = rows.reduce((sum, { count }) => sum + count, 0);
  return { states, isComplete: counted < queueCountMax };
}
