import { sql } from "drizzle-orm";
import type { Deps } from "#server/deps";
import { hourMs } from "#server/shared/durations";
import type { Details } from "../system-mail/details";
import { findSystemEmailFault, queueSystemEmail } from "../system-mail/queue";
import { type AlertEvent, type AlertKind, alertKind } from "./kinds";
import { isAlertRecipient } from "./preferences";

/** Maximum number of alert emails for one address in an hour. What comes later is in the next email. */
export const alertEmailsPerHourMax = 6;
/** Alerts in one email; the rest is counted. */
const listedMax = 20;
/** An alert email that was not sent by then is not sent: it would describe the past. */
const expiryHours = 24;
const usersMax = 500;

type Notice = {
  event: AlertEvent;
  kind: AlertKind;
  teamId: string | null;
  team: string | null;
  name: string;
  message: string;
};

/**
 * Queues one email for each user with waiting notifications that they may still receive, up to the limit of
 * an hour.
 */
export async function queueAlertEmails(deps: Deps): Promise<void> {
  await deps.hot`
    delete from alert_notices n using users u, alerts a
    where u.id = n.user_id and a.id = n.alert_id and not ${deps.hot.unsafe(isAlertRecipient("a.team_id"))}`;
  const users = await deps.hot<{ id: string; email: string }[]>`
    select u.id, u.email from users u
    where u.has_alert_emails and u.id in (select user_id from alert_notices) and (
      select count(*) from system_mails m where m.recipient = u.email and m.kind = 'alert'
        and m.created_at > now() - interval '1 hour') < ${alertEmailsPerHourMax}
    order by u.id limit ${usersMax}`;
  if (users.length === 0) return;
  const fault = await findSystemEmailFault(deps);
  if (fault !== null) {
    // They would be sent long after the fact. The console shows the alerts.
    await deps.hot`delete from alert_notices`;
    return deps.log.warn("alerts.not_sent", { reason: fault });
  }
  for (const user of users) await queueAlertEmail(deps, user);
  deps.wake();
}

async function queueAlertEmail(deps: Deps, user: { id: string; email: string }): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const notices = await tx.execute<Notice>(sql`
      with taken as (delete from alert_notices where user_id = ${user.id} returning alert_id, event, id)
      select n.event, a.kind, a.team_id as "teamId", t.name as team, a.name, a.message
      from taken n join alerts a on a.id = n.alert_id left join teams t on t.id = a.team_id order by n.id`);
    const known = notices.filter(({ kind }) => alertKind(kind) !== undefined);
    if (known.length === 0) return;
    await queueSystemEmail(tx, deps, {
      kind: "alert",
      to: user.email,
      expiresAt: new Date(deps.clock().getTime() + expiryHours * hourMs),
      details: detailsOf(known),
    });
  });
}

function detailsOf(notices: readonly Notice[]): Details["alert"] {
  return {
    items: notices.slice(0, listedMax).map(({ event, kind, teamId, team, name, message }) => {
      const { title, toDo } = alertKind(kind);
      return { event, title, name, teamId, team, message, toDo };
    }),
    more: Math.max(0, notices.length - listedMax),
    path: pathOf(notices),
  };
}

/** The page of a single alert; for several ones, the page that lists them. */
function pathOf(notices: readonly Notice[]): string {
  const [first, ...others] = notices;
  const teamId = first?.teamId ?? null;
  if (first === undefined || notices.some((each) => each.teamId !== teamId)) return "/console";
  const page =
    others.length === 0
      ? alertKind(first.kind).page
      : teamId === null
        ? "/console/installation/alerts"
        : "/console";
  return teamId === null ? page : `${page}${page.includes("?") ? "&" : "?"}team=${teamId}`;
}
