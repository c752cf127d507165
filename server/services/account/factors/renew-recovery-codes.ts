import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { recordAccountEvent } from "../events";
import type { Owner } from "../reauthenticate";
import { hasTwoFactor, lockUser, readFactors } from "./factors";
import { replaceRecoveryCodes } from "./recovery-codes";

/** Replaces the user's recovery codes and returns the new ones. AppError `conflict` if 2FA is off. */
export async function renewRecoveryCodes(deps: Deps, { user, visitor }: Owner): Promise<string[]> {
  return deps.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    if (!hasTwoFactor(await readFactors(tx, user.id)))
      throw new AppError(
        "conflict",
        "Two-factor authentication is off. Add an authenticator app or a passkey first.",
      );
    await recordAccountEvent(tx, { userId: user.id, kind: "recovery_codes_made", visitor });
    return replaceRecoveryCodes(tx, user.id);
  });
}
