import { eq } from "drizzle-orm";
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
