import { AppError } from "#server/platform/errors";
import { recordAccountEvent } from "../people/events";
import { lockUser } from "../people/lock";
import type { LimitedDeps } from "../people/sign-in-counters";
import { authenticateByPassword, hashNewPassword, type Owner, writePassword } from "../people/users";
import { countProof } from "./reauthenticate";

const WRONG_PASSWORD = "Incorrect current password.";

/**
 * Replaces the owner's password and ends their other sessions, open 2FA challenges and all links that were
 * sent to them. AppError `invalid` if the current password is wrong, was changed by a concurrent request, or
 * the new one is not acceptable; `rate_limited` after several attempts.
 */
export async function changePassword(
  deps: LimitedDeps,
  owner: Owner,
  input: { current: string; next: string },
): Promise<void> {
  const { user, sessionId, visitor } = owner;
  await countProof(deps, user);
  const matched = await authenticateByPassword(deps, { email: user.email, password: input.current });
  if (!matched) throw new AppError("invalid", WRONG_PASSWORD);
  const passwordHash = await hashNewPassword(input.next);
  await deps.db.transaction(async (tx) => {
    const locked = await lockUser(tx, user.id);
    if (locked.passwordHash !== matched.passwordHash) throw new AppError("invalid", WRONG_PASSWORD);
    await writePassword(tx, { userId: user.id, passwordHash, keptSession: sessionId });
    await recordAccountEvent(tx, { userId: user.id, kind: "password_changed", visitor });
  });
}
