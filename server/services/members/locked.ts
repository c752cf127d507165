import { asc, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { memberships, type Role, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { mayDo, sayLack } from "#server/roles";

export type LockedMember = { userId: string; role: Role; email: string };

/**
 * The team's members, held as they are until the transaction ends: whoever changes one waits, so that what is decided by
 * all of them together, such as who is its last owner, stays true. Always taken in one order.
 */
export async function lockMembers(tx: Db, teamId: string): Promise<LockedMember[]> {
  return tx
    .select({ userId: memberships.userId, role: memberships.role, email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.teamId, teamId))
    .orderBy(asc(memberships.userId))
    .for("update", { of: memberships });
}

/**
 * The role with which the caller acts on these members. It was checked at the door; since then somebody may have changed it.
 * The operator stands above all of them, a key is nobody's equal.
 */
export function roleAmong(members: readonly LockedMember[], { actor }: Ctx): Role {
  if (actor.kind === "operator") return "owner";
  if (actor.kind === "key") throw new AppError("forbidden", "Members are changed by people, not by keys.");
  const self = members.find(({ userId }) => userId === actor.userId);
  if (!self) throw notFound("Team");
  return self.role;
}

/** Whether somebody in role `mine` may give, take or change these roles. AppError `forbidden` says who may. */
export function requireMayHandle(mine: Role, roles: readonly Role[]): void {
  const right = roles.includes("owner") ? "owners:write" : "members:write";
  if (!mayDo(mine, right)) throw new AppError("forbidden", sayLack(mine, right));
}
