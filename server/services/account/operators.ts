import { asc, eq } from "drizzle-orm";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { recordAccountEvent } from "../people/events";
import { findUser, USER_COLUMNS, type User } from "../people/users";
import { lockFirstUser } from "./first-user";

/** The operators of the installation, oldest user first. */
export const listOperators = ({ db }: Pick<Deps, "db">): Promise<User[]> =>
  db.select(USER_COLUMNS).from(users).where(eq(users.isOperator, true)).orderBy(asc(users.createdAt));

/**
 * Makes a user an operator of the installation. 404 for an unknown address. Returns whether that changed
 * anything.
 */
export async function grantOperator(deps: Deps, email: string): Promise<{ user: User; isChanged: boolean }> {
  const user = await requireUser(deps, email);
  const isChanged = await deps.db.transaction(async (tx) => {
    if ((await lockOperators({ db: tx })).has(user.id)) return false;
    await tx.update(users).set({ isOperator: true }).where(eq(users.id, user.id));
    await recordAccountEvent(tx, { userId: user.id, kind: "operator_granted", visitor: null });
    return true;
  });
  return { user, isChanged };
}

/**
 * Ends it; the user's next request is rejected where it requires an operator. 404 for an unknown address, 409
 * for a user who is not an operator, and for the last operator.
 */
export async function revokeOperator(deps: Deps, email: string): Promise<User> {
  const user = await requireUser(deps, email);
  await deps.db.transaction(async (tx) => {
    const operators = await lockOperators({ db: tx });
    if (!operators.has(user.id)) throw new AppError("conflict", `${user.email} is not an operator.`);
    if (operators.size === 1)
      throw new AppError("conflict", `${user.email} is the last operator. Grant it to another user first.`);
    await tx.update(users).set({ isOperator: false }).where(eq(users.id, user.id));
    await recordAccountEvent(tx, { userId: user.id, kind: "operator_revoked", visitor: null });
  });
  return user;
}

/** Of two concurrent changes, the second one sees the result of the first, so one operator always remains. */
async function lockOperators({ db }: Pick<Deps, "db">): Promise<Set<string>> {
  await lockFirstUser(db);
  return new Set((await listOperators({ db })).map(({ id }) => id));
}

async function requireUser(deps: Deps, email: string): Promise<User> {
  const user = await findUser(deps, email);
  if (!user) throw new AppError("not_found", `There is no user ${email}.`);
  return user;
}
