import { eq } from "drizzle-orm";
import type { HotSql } from "#db/client";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { notFound } from "#server/platform/errors";

/** Whether the user receives alerts by email. */
export async function hasAlertEmails({ db }: Pick<Deps, "db">, userId: string): Promise<boolean> {
  const [user] = await db.select({ isOn: users.hasAlertEmails }).from(users).where(eq(users.id, userId));
  if (!user) throw notFound("User");
  return user.isOn;
}

/** Turns the user's alert emails on or off. Notifications that wait to be sent are not sent after that. */
export async function setAlertEmails(deps: Pick<Deps, "db">, userId: string, isOn: boolean): Promise<void> {
  const changed = await deps.db
    .update(users)
    .set({ hasAlertEmails: isOn })
    .where(eq(users.id, userId))
    .returning({ id: users.id });
  if (changed.length === 0) throw notFound("User");
}

/**
 * SQL: whether the user `u` is notified of alerts of this team, or of the installation if it is null: the
 * owners and admins of the team, or the operators, unless they turned alert emails off. Checked again before
 * each step, because it can change meanwhile.
 */
export const isAlertRecipient = (teamId: string): string => `(u.has_alert_emails and case
  when ${teamId} is null then u.is_operator
  else exists (select from memberships m
    where m.team_id = ${teamId} and m.user_id = u.id and m.role in ('owner', 'admin')) end)`;

/** The items whose alerts the user with this address may still receive. */
export async function keepAllowedItems<Item extends { teamId: string | null }>(
  { hot }: { hot: HotSql },
  address: string,
  items: readonly Item[],
): Promise<Item[]> {
  const allowed = await hot.unsafe<{ teamId: string | null }[]>(
    `select t.id as "teamId" from users u cross join unnest($2::uuid[]) as t(id)
     where u.email = $1 and ${isAlertRecipient("t.id")}`,
    [address.toLowerCase(), [...new Set(items.map(({ teamId }) => teamId))]],
  );
  const teamIds = new Set(allowed.map(({ teamId }) => teamId));
  return items.filter(({ teamId }) => teamIds.has(teamId));
}
