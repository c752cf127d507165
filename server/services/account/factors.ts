import { and, eq, isNotNull, isNull, ne, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { passkeys, recoveryCodes, secondSteps, totpFactors } from "#db/schema/account";
import { sessions, users } from "#db/schema/teams";
import { AppError, notFound } from "#server/errors";
import { replaceRecoveryCodes } from "./recovery-codes";

/** What a person can give beside their first proof. */
export type Factors = { hasTotp: boolean; passkeys: number; recoveryCodesLeft: number };

/** The second factors of a person as they count now. */
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

/** Whether a first proof alone opens nothing for this person. Recovery codes alone are no factor. */
export const needsSecondStep = ({ hasTotp, passkeys: count }: Factors): boolean => hasTotp || count > 0;

/**
 * Holds a person's row until the transaction ends: whoever signs in and whoever changes the factors come one after the
 * other, so that no session is opened by a first proof alone while a factor is being added, and no try goes uncounted.
 * Answers the password as it stands for as long.
 */
export async function holdUser(tx: Db, userId: string): Promise<{ passwordHash: string | null }> {
  const [held] = await tx
    .select({ passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.id, userId))
    .for("no key update");
  if (!held) throw notFound("User");
  return held;
}

/**
 * The same for somebody who adds a lock, in a session that is open still. Whatever ends all of a person's sessions holds them
 * too, so nothing is added by a call that began before it. AppError `unauthorized` where the session is over.
 */
export async function holdOwner(tx: Db, owner: { userId: string; sessionId: string }): Promise<void> {
  await holdUser(tx, owner.userId);
  const isOpen = and(eq(sessions.id, owner.sessionId), isNull(sessions.revokedAt));
  if ((await tx.$count(sessions, isOpen)) === 0)
    throw new AppError("unauthorized", "Sign in again: your session is over.");
}

/** Takes every second factor off a person, with the recovery codes and the first proofs that still owe a second one. */
export async function dropFactors(tx: Db, userId: string): Promise<void> {
  for (const table of [totpFactors, passkeys, recoveryCodes, secondSteps])
    await tx.delete(table).where(eq(table.userId, userId));
}

/** Ends a person's sessions but the one named, which is the one that asks. Tells how many there were. */
export async function endSessionsBut(tx: Db, userId: string, sessionId: string | null): Promise<number> {
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
 * To be called in the transaction that added a factor. With a person's first one come their recovery codes, which are
 * answered, and every other session ends: it was opened by a first proof alone. Null where it was not the first.
 */
export async function addedFactor(
  tx: Db,
  input: { userId: string; sessionId: string },
): Promise<string[] | null> {
  const { hasTotp, passkeys: count } = await readFactors(tx, input.userId);
  if (Number(hasTotp) + count > 1) return null;
  await endSessionsBut(tx, input.userId, input.sessionId);
  return replaceRecoveryCodes(tx, input.userId);
}

/** To be called in the transaction that removed a factor: without any the recovery codes are worth nothing, and go. */
export async function removedFactor(tx: Db, userId: string): Promise<void> {
  if (!needsSecondStep(await readFactors(tx, userId)))
    await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
}
