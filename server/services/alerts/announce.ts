import { type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import type { Deps } from "#server/deps";
import { announce } from "../webhooks/events/announce";
import { presentAlert, queueAlertCalls } from "./installation-webhook";
import { type Announcement, alertKinds } from "./kinds";
import { isAlertRecipient } from "./preferences";

/**
 * An alert is not announced again within this time, so that one that opens and closes repeatedly sends
 * little.
 */
const quietHours = 1;
const reminderHours = 24;

/**
 * Records who is to be notified of what: when an alert opens, once a day while it is open, and when it is
 * resolved, if its opening was announced. The alerts change in the same transaction, so each notification is
 * recorded once.
 */
export async function announceAlerts(deps: Deps): Promise<void> {
  const isDone = await deps.db.transaction(async (tx) => {
    const announced = await tx.execute<Announcement>(ANNOUNCE);
    if (announced.length === 0) return false;
    await queueNotices(tx, announced);
    await queueAlertCalls(tx, deps, announced);
    for (const each of announced)
      if (each.teamId !== null && each.event !== "reminder")
        await announce(
          { ...deps, db: tx, teamId: each.teamId },
          `alert.${each.event}`,
          presentAlert(deps, each),
        );
    return true;
  });
  if (isDone) deps.wake();
}

const since = (hours: number): SQL => sql`a.notified_at <= now() - ${hours}::int * interval '1 hour'`;
const iso = (column: string): SQL =>
  sql.raw(`to_char(a.${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);

const ANNOUNCE = sql`
  with due as materialized (
    select a.id, case when a.resolved_at is not null then 'resolved' when a.is_announced then 'reminder' else 'opened' end as event
    from alerts a
    where a.opened_at is not null and a.kind = any(${sql.param(alertKinds)}::text[])
      and case when a.resolved_at is not null then a.is_announced
               when a.is_announced then ${since(reminderHours)}
               else a.notified_at is null or ${since(quietHours)} end
    order by a.id for no key update of a
  )
  update alerts a set is_announced = a.resolved_at is null, notified_at = now()
  from due where due.id = a.id
  returning a.id, due.event, a.team_id as "teamId", a.kind, a.subject, a.name, a.message,
    ${iso("opened_at")} as "openedAt", ${iso("resolved_at")} as "resolvedAt"`;

/**
 * For the owners and admins of the team, or for the operators. A notification that was not sent yet is
 * replaced.
 */
async function queueNotices(tx: Db, announced: readonly Announcement[]): Promise<void> {
  const ids = sql.param(announced.map(({ id }) => id));
  const events = sql.param(announced.map(({ event }) => event));
  await tx.execute(sql`delete from alert_notices where alert_id = any(${ids}::uuid[])`);
  await tx.execute(sql`
    insert into alert_notices (id, user_id, alert_id, event)
    select uuid_v7(), u.id, a.id, e.event
    from unnest(${ids}::uuid[], ${events}::text[]) as e(id, event) join alerts a on a.id = e.id
    join users u on ${sql.raw(isAlertRecipient("a.team_id"))}`);
}
