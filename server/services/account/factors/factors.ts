import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { passkeys, recoveryCodes, totpFactors, twoFactorChallenges } from "#db/schema/account";
import { users } from "#db/schema/teams";
import { notFound } from "#server/platform/errors";
import { endSessionsExcept } from "../../people/lock";
import { replaceRecoveryCodes } from "./recovery-codes";

/** What a user has set up for the second sign-in step. */
export type Factors = { hasTotp: boolean; passkeys: number; recoveryCodesLeft: number };

/** The user's active 2FA factors. AppError `not_found` for an unknown user. */
export async function getFactors(tx: Db, userId: string): Promise<Factors> {
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

/** Deletes all of the user's 2FA factors, recovery codes and open 2FA challenges. */
export async function deleteFactors(tx: Db, userId: string): Promise<void> {
  for (const table of [totpFactors, passkeys, recoveryCodes, twoFactorChallenges])
    await tx.delete(table).where(eq(table.userId, userId));
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
  const { hasTotp, passkeys: count } = await getFactors(tx, input.userId);
  if (Number(hasTotp) + count > 1) return null;
  await endSessionsExcept(tx, input.userId, input.sessionId);
  return replaceRecoveryCodes(tx, input.userId);
}

/** Call it in the transaction that removed a factor. Deletes the recovery codes if no factor is left. */
export async function afterFactorRemoved(tx: Db, userId: string): Promise<void> {
  if (!hasTwoFactor(await getFactors(tx, userId)))
    await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
}
