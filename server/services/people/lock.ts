import { and, eq, isNull, ne, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { sessions, users } from "#db/schema/teams";
import { AppError, notFound } from "#server/platform/errors";

/**
 * Locks the user's row until the transaction ends. Sign-ins and factor changes of one user therefore run one
 * after the other: no session opens without 2FA while a factor is being added, and every attempt is counted.
 * Returns the current password hash, which cannot change while the lock is held.
 */
export async function lockUser(tx: Db, userId: string): Promise<{ passwordHash: string | null }> {
  const [locked] = await tx
    .select({ passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.id, userId))
    .for("no key update");
  if (!locked) throw notFound("User");
  return locked;
}

/**
 * Locks the user's row and checks that the session is still active. Use it before adding a factor: code that
 * ends all sessions of a user takes the same lock, so a request that started earlier cannot add a factor
 * afterwards. AppError `unauthorized` if the session has ended.
 */
export async function lockUserOfSession(tx: Db, owner: { userId: string; sessionId: string }): Promise<void> {
  await lockUser(tx, owner.userId);
  const isOpen = and(eq(sessions.id, owner.sessionId), isNull(sessions.revokedAt));
  if ((await tx.$count(sessions, isOpen)) === 0)
    throw new AppError("unauthorized", "Your session has ended. Sign in again.");
}

/**
 * Ends the user's sessions except `sessionId`, or all of them for null. Returns the number of sessions ended.
 */
export async function endSessionsExcept(tx: Db, userId: string, sessionId: string | null): Promise<number> {
  const ended = await tx
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(
      and(
        eq(sessions.userId, userId),
        isNull(sessions.revokedAt),
        sessionId === null ? undefined : ne(sessions.id, sessionId),
      ),
    )
    .returning({ id: sessions.id });
  return ended.length;
}
