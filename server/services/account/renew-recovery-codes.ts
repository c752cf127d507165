import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import { recordAccountEvent } from "./events";
import { holdUser, needsSecondStep, readFactors } from "./factors";
import type { Owner } from "./prove";
import { replaceRecoveryCodes } from "./recovery-codes";

/**
 * Makes new recovery codes in place of all earlier ones, and answers them this once. AppError `conflict` for whoever has
 * no second factor: there is nothing to recover.
 */
export async function renewRecoveryCodes(deps: Deps, { user, visitor }: Owner): Promise<string[]> {
  return deps.db.transaction(async (tx) => {
    await holdUser(tx, user.id);
    if (!needsSecondStep(await readFactors(tx, user.id)))
      throw new AppError("conflict", "Recovery codes come with an authenticator app or a passkey.");
    await recordAccountEvent(tx, { userId: user.id, kind: "recovery_codes_made", visitor });
    return replaceRecoveryCodes(tx, user.id);
  });
}
