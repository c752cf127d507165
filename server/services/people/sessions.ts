import { and, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { memberships, type Role, sessions, teams, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { isId, newId } from "#server/platform/ids";
import { sessionDays } from "./records";
import { USER_COLUMNS, type User } from "./users";

const lifetimeDays = 30;
/** Precision of `lastSeenAt`. A busy page must not update the row with every request. */
const seenEveryMinutes = 1;

export type Membership = { teamId: string; teamName: string; role: Role };

/** A signed-in user and the teams they are currently in, oldest team first. */
export type Session = { id: string; user: User; isOperator: boolean; memberships: Membership[] };

/** Opens a session for a user who has completed the sign-in. It expires after 30 days. */
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

/** The current session, or null if it was ended, has expired or does not exist. One query. */
export async function findSession(deps: Deps, id: string): Promise<Session | null> {
  if (!isId(id)) return null;
  const rows = await deps.db
    .select({
      user: USER_COLUMNS,
      isOperator: users.isOperator,
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
    isOperator: first.isOperator,
    memberships: rows.flatMap(({ teamId, teamName, role }) =>
      teamId && teamName !== null && role ? [{ teamId, teamName, role }] : [],
    ),
  };
}

/** Ends a session; its next request is rejected. Does nothing if the session has already ended. */
export async function endSession(deps: Deps, id: string): Promise<void> {
  if (!isId(id)) return;
  await deps.db
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(sessions.id, id), isNull(sessions.revokedAt)));
}

/** Whether the user of this email address has signed in from this IP address within the last 90 days. */
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

// Repeats the condition: of many concurrent requests, only one writes.
async function touchSession(deps: Deps, id: string): Promise<void> {
  await deps.db
    .update(sessions)
    .set({ lastSeenAt: sql`now()` })
    .where(and(eq(sessions.id, id), lt(sessions.lastSeenAt, minutesAgo(seenEveryMinutes))));
}
