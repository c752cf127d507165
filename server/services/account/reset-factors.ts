import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import { recordAccountEvent } from "./events";
import { dropFactors, endSessionsBut, holdUser, needsSecondStep, readFactors } from "./factors";

/**
 * Takes every second factor off a person, as the operator, and ends every session of theirs: for whoever has lost the
 * app, the passkeys and the recovery codes. AppError `conflict` where there is none.
 */
export async function resetFactors(deps: Deps, userId: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await holdUser(tx, userId);
    if (!needsSecondStep(await readFactors(tx, userId)))
      throw new AppError("conflict", "There is no second step to take off: a first proof lets them in.");
    await dropFactors(tx, userId);
    await endSessionsBut(tx, userId, null);
    await recordAccountEvent(tx, { userId, kind: "second_factor_reset", visitor: null });
  });
}
