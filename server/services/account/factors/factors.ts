import { and, eq, isNotNull, isNull, ne, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { passkeys, recoveryCodes, totpFactors, twoFactorChallenges } from "#db/schema/account";
import { sessions, users } from "#db/schema/teams";
import { AppError, notFound } from "#server/platform/errors";
import { replaceRecoveryCodes } from "./recovery-codes";

/** What a user has set up for the second sign-in step. */
export type Factors = { hasTotp: boolean; passkeys: number; recoveryCodesLeft: number };

/** The user's active 2FA factors. AppError `not_found` for an unknown user. */
export async function readFactors(tx: Db, userId: string): Promise<Factors> {
  const [found] = await tx
    .select({
      hasTotp: sql<boolean>`exists (${tx
        .select({ one: sql`1` })
        .from(totpFactors)
        .where(and(eq(totpFactors.userId, userId), isNotNull(totpFactors.confirmedAt)))})`,
      passkeys: sql<number>`(${tx
        .select({ count: sql`count(*)::int` })
        .from(passkeys)
        .where(eq(passkeys.userId, userId))})`,
      recoveryCodesLeft: sql<number>`(${tx
        .select({ count: sql`count(*)::int` })
        .from(recoveryCodes)
        .where(and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt)))})`,
    })
    .from(users)
    .where(eq(users.id, userId));
  if (!found) throw notFound("User");
  return found;
}

/**
 * Whether two-factor authentication (2FA) is on for the user. Recovery codes alone do not count as a factor.
 */
export const hasTwoFactor = ({ hasTotp, passkeys: count }: Factors): boolean => hasTotp || count > 0;

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

/** Deletes all of the user's 2FA factors, recovery codes and open 2FA challenges. */
export async function deleteFactors(tx: Db, userId: string): Promise<void> {
  for (const table of [totpFactors, passkeys, recoveryCodes, twoFactorChallenges])
    await tx.delete(table).where(eq(table.userId, userId));
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

/**
 * Call it in the transaction that added a factor. After the first factor it ends the user's other sessions,
 * which were opened without 2FA, and returns new recovery codes. Returns null if the user already had a
 * factor.
 */
export async function afterFactorAdded(
  tx: Db,
  input: { userId: string; sessionId: string },
): Promise<string[] | null> {
  const { hasTotp, passkeys: count } = await readFactors(tx, input.userId);
  if (Number(hasTotp) + count > 1) return null;
  await endSessionsExcept(tx, input.userId, input.sessionId);
  return replaceRecoveryCodes(tx, input.userId);
}

/** Call it in the transaction that removed a factor. Deletes the recovery codes if no factor is left. */
export async function afterFactorRemoved(tx: Db, userId: string): Promise<void> {
  if (!hasTwoFactor(await readFactors(tx, userId)))
    await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
}
