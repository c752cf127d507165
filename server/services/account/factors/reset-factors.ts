import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { recordAccountEvent } from "../events";
import { deleteFactors, endSessionsExcept, hasTwoFactor, lockUser, readFactors } from "./factors";

/**
 * Turns off 2FA for a user, as the operator, and ends all of the user's sessions. For users who have lost the app, the
 * passkeys and the recovery codes. AppError `conflict` if 2FA is off.
 */
export async function resetFactors(deps: Deps, userId: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    if (!hasTwoFactor(await readFactors(tx, userId)))
      throw new AppError("conflict", "Two-factor authentication is not on for this user.");
    await deleteFactors(tx, userId);
    await endSessionsExcept(tx, userId, null);
    await recordAccountEvent(tx, { userId, kind: "second_factor_reset", visitor: null });
  });
}
