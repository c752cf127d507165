import { and, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { sessionDays } from "#db/account-records";
import { memberships, type Role, sessions, teams, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { isId, newId } from "#server/ids";
import type { User } from "./users";

const lifetimeDays = 30;
/** How exactly "last seen" is kept: a busy page does not write a row with every call. */
const seenEveryMinutes = 1;

export type Membership = { teamId: string; teamName: string; role: Role };

/** Who is signed in, and in which teams they are at this moment, oldest team first. */
export type Session = { id: string; user: User; memberships: Membership[] };

/** Opens a session for somebody whose identity was proved. It ends by itself after 30 days. */
export async function openSession(
  deps: Deps,
  input: { userId: string; userAgent: string | null; address: string | null },
): Promise<{ id: string }> {
  const id = newId();
  await deps.db.insert(sessions).values({
    id,
    userId: input.userId,
    userAgent: input.userAgent?.replaceAll("\0", "").slice(0, 400) ?? null,
    address: input.address,
    expiresAt: sql`now() + ${lifetimeDays} * interval '1 day'`,
  });
  return { id };
}

/** The session as it stands now, or null where it was ended, has run out or never was. One read. */
export async function findSession(deps: Deps, id: string): Promise<Session | null> {
  if (!isId(id)) return null;
  const rows = await deps.db
    .select({
      user: { id: users.id, email: users.email, name: users.name },
      teamId: memberships.teamId,
      teamName: teams.name,
      role: memberships.role,
      isSeenStale: lt(sessions.lastSeenAt, minutesAgo(seenEveryMinutes)).mapWith(Boolean),
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(memberships, eq(memberships.userId, users.id))
    .leftJoin(teams, eq(teams.id, memberships.teamId))
    .where(isOpen(id))
    .orderBy(memberships.teamId);
  const [first] = rows;
  if (!first) return null;
  if (first.isSeenStale) await touchSession(deps, id);
  return {
    id,
    user: first.user,
    memberships: rows.flatMap(({ teamId, teamName, role }) =>
      teamId && teamName !== null && role ? [{ teamId, teamName, role }] : [],
    ),
  };
}

/** Ends a session; its next call is refused. Ending one that is over changes nothing. */
export async function endSession(deps: Deps, id: string): Promise<void> {
  if (!isId(id)) return;
  await deps.db
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(sessions.id, id), isNull(sessions.revokedAt)));
}

/** Whether somebody has signed in to the account of that address from there within the last 90 days. */
export async function isKnownAddress(
  deps: Deps,
  input: { email: string; address: string },
): Promise<boolean> {
  const [known] = await deps.db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(users.email, input.email),
        eq(sessions.address, input.address),
        gt(sessions.createdAt, sql`now() - ${sessionDays} * interval '1 day'`),
      ),
    )
    .limit(1);
  return known !== undefined;
}

const isOpen = (id: string) =>
  and(eq(sessions.id, id), isNull(sessions.revokedAt), gt(sessions.expiresAt, sql`now()`));

const minutesAgo = (minutes: number) => sql`now() - ${minutes} * interval '1 minute'`;

// The condition again, so that of many calls at once one writes.
async function touchSession(deps: Deps, id: string): Promise<void> {
  await deps.db
    .update(sessions)
    .set({ lastSeenAt: sql`now()` })
    .where(and(eq(sessions.id, id), lt(sessions.lastSeenAt, minutesAgo(seenEveryMinutes))));
}
