import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { EVENTS_RESUMED_AT, HAS_EVENTS_SENT, RESUMED_TEAMS, STOPPED_TEAMS } from "./pauses/stopped-teams";
import { WAITING, WAITING_ENDPOINTS } from "./pauses/waiting";

/** Age at which a due delivery or event delivery is reported. Workers normally claim it within a second. */
const overdueSecondsMax = 300;

/** Deliveries and event deliveries that are due and that no worker has claimed. */
export type Backlog = {
  /**
   * Seconds since the oldest due delivery became due or its team resumed, stopped queues aside; null if none
   * is due.
   */
  deliverySeconds: number | null;
  /**
   * The same for event deliveries to endpoints that are not disabled, paused or failing. A pause of a team
   * stops no events.
   */
  eventSeconds: number | null;
};

/**
 * Reads the age of the oldest due delivery and event delivery. Costs one index step per waiting team and
 * priority, and one per waiting endpoint, however long the queues are.
 */
export async function getBacklog(db: Db): Promise<Backlog> {
  const [found] = await db.execute<Backlog>(sql`
    with recursive stopped as materialized (${sql.raw(STOPPED_TEAMS)}), resumed as materialized (${sql.raw(RESUMED_TEAMS)}
    ), ${sql.raw(WAITING)}, ${sql.raw(WAITING_ENDPOINTS)}, event as (
      select (select d.due_at from webhook_deliveries d where d.status = 'pending' and d.webhook_id = w.id
              order by d.due_at, d.id limit 1) as due_at, ${sql.raw(EVENTS_RESUMED_AT)} as resumed_at
      from waiting_endpoint e join webhooks w on w.id = e.webhook_id
      where w.status = 'enabled' and w.failing_since is null and (w.paused_until is null or w.paused_until <= now())
        and ${sql.raw(HAS_EVENTS_SENT)}
    )
    select (select extract(epoch from now() - min(greatest(w.due_at, r.at, (select at from resumed where team_id is null))))
        from waiting w left join resumed r on r.team_id = w.team_id
        where w.due_at <= now() and not exists (select from stopped s where s.team_id is null or s.team_id = w.team_id))::float8 as "deliverySeconds",
      (select extract(epoch from now() - min(greatest(due_at, resumed_at))) from event where due_at <= now())::float8 as "eventSeconds"`);
  if (!found) throw new TypeError("a select without from returned no row");
  return found;
}

type BacklogAlarm = {
  alarm: "delivery_backlog" | "webhook_backlog";
  count: number;
  message: string;
  summary: string;
};

/** The alarms of a backlog. `count` is in minutes, `summary` is the message without what to do. */
export const findBacklogAlarms = ({ deliverySeconds, eventSeconds }: Backlog): BacklogAlarm[] => [
  ...overdue("delivery_backlog", deliverySeconds, {
    what: "email",
    advice: "Check that workers run and are not overloaded: run backstamp doctor, then add workers.",
  }),
  ...overdue("webhook_backlog", eventSeconds, {
    what: "webhook event",
    advice: "An endpoint responds slowly, or too few workers run: run backstamp webhook list.",
  }),
];

function overdue(
  alarm: BacklogAlarm["alarm"],
  seconds: number | null,
  { what, advice }: { what: string; advice: string },
): BacklogAlarm[] {
  if (seconds === null || seconds <= overdueSecondsMax) return [];
  const minutes = Math.floor(seconds / 60);
  const age = minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} hours`;
  const summary = `The oldest due ${what} has waited for ${age}.`;
  return [{ alarm, count: minutes, summary, message: `${summary} ${advice}` }];
}
