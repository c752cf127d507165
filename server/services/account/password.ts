import { eq } from "drizzle-orm";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import type { InProcessStore } from "#server/limits/in-process";
import { hashPassword } from "#server/passwords";
import { voidSignInTokens } from "../sign-in-tokens";
import { checkPassword, verifyPassword } from "../users";
import { recordAccountEvent } from "./events";
import { endSessionsBut, holdUser } from "./factors";
import type { Owner } from "./prove";

const triesPerMinute = 6;

/**
 * Gives the owner another password, for the present one, and ends their other sessions and every link that was
 * mailed to them. AppError `invalid` where the
 * present one is wrong or the next will not do, `rate_limited` after several tries.
 */
export async function changePassword(
  deps: Deps & { signInTries: InProcessStore },
  owner: Owner,
  input: { present: string; next: string },
): Promise<void> {
  const { user, sessionId, visitor } = owner;
  if (!deps.signInTries.take(`prove:${user.id}`, triesPerMinute).allowed)
    throw new AppError("rate_limited", "Too many tries. Wait a minute and try again.");
  if (!(await verifyPassword(deps, { email: user.email, password: input.present })))
    throw new AppError("invalid", "That is not your present password.");
  checkPassword(input.next);
  const passwordHash = await hashPassword(input.next);
  await deps.db.transaction(async (tx) => {
    await holdUser(tx, user.id);
    const changed = await tx
      .update(users)
      .set({ passwordHash })
      .where(eq(users.id, user.id))
      .returning({ id: users.id });
    if (changed.length === 0) throw notFound("User");
    await endSessionsBut(tx, user.id, sessionId);
    await voidSignInTokens(tx, user.id);
    await recordAccountEvent(tx, { userId: user.id, kind: "password_changed", visitor });
  });
}
