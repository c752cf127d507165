import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import type { InProcessStore } from "#server/limits/in-process";
import { hashNewPassword, judgePassword, writePassword } from "../users";
import { recordAccountEvent } from "./events";
import { holdUser } from "./factors";
import type { Owner } from "./prove";

const triesPerMinute = 6;
const WRONG = "That is not your present password.";

/**
 * Gives the owner another password, for the present one, and ends their other sessions, first proofs that
 * owe a second one, and every link that was mailed to them. AppError `invalid` where the present one is wrong, also by the
 * time that the next one is written, or the next will not do, `rate_limited` after several tries.
 */
export async function changePassword(
  deps: Deps & { signInTries: InProcessStore },
  owner: Owner,
  input: { present: string; next: string },
): Promise<void> {
  const { user, sessionId, visitor } = owner;
  if (!deps.signInTries.take(`prove:${user.id}`, triesPerMinute).allowed)
    throw new AppError("rate_limited", "Too many tries. Wait a minute and try again.");
  const judged = await judgePassword(deps, { email: user.email, password: input.present });
  if (!judged) throw new AppError("invalid", WRONG);
  const passwordHash = await hashNewPassword(input.next);
  await deps.db.transaction(async (tx) => {
    const held = await holdUser(tx, user.id);
    if (held.passwordHash !== judged.passwordHash) throw new AppError("invalid", WRONG);
    await writePassword(tx, { userId: user.id, passwordHash, keptSession: sessionId });
    await recordAccountEvent(tx, { userId: user.id, kind: "password_changed", visitor });
  });
}
