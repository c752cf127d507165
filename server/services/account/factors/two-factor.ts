import type { Db } from "#db/client";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { recordAccountEvent } from "../../people/events";
import { endSessionsExcept, lockUser } from "../../people/lock";
import type { Owner } from "../../people/users";
import { deleteFactors, getFactors, hasTwoFactor } from "./factors";
import { replaceRecoveryCodes } from "./recovery-codes";

/** Replaces the user's recovery codes and returns the new ones. AppError `conflict` if 2FA is off. */
export async function renewRecoveryCodes(deps: Deps, { user, visitor }: Owner): Promise<string[]> {
  return deps.db.transaction(async (tx) => {
    await lockWithTwoFactor(
      tx,
      user.id,
      "Two-factor authentication is off. Add an authenticator app or a passkey first.",
    );
    await recordAccountEvent(tx, { userId: user.id, kind: "recovery_codes_made", visitor });
    return replaceRecoveryCodes(tx, user.id);
  });
}

/**
 * Turns off 2FA for a user, as the operator, and ends all of the user's sessions. For users who have lost the
 * app, the passkeys and the recovery codes. AppError `conflict` if 2FA is off.
 */
export async function resetTwoFactor(deps: Deps, userId: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await lockWithTwoFactor(tx, userId, "Two-factor authentication is not on for this user.");
    await deleteFactors(tx, userId);
    await endSessionsExcept(tx, userId, null);
    await recordAccountEvent(tx, { userId, kind: "second_factor_reset", visitor: null });
  });
}

async function lockWithTwoFactor(tx: Db, userId: string, message: string): Promise<void> {
  await lockUser(tx, userId);
  if (!hasTwoFactor(await getFactors(tx, userId))) throw new AppError("conflict", message);
}
