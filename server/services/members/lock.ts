import { asc, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { memberships, type Role, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { formatMissingPermission, hasPermission } from "#server/shared/roles";

export type LockedMember = { userId: string; role: Role; email: string };

/**
 * Locks and returns the team's members until the transaction ends. Decisions that depend on all members, such
 * as who is the last owner, stay valid meanwhile. The rows are always locked in the same order.
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
 * The caller's current role in the team. It may have changed since the request was authorized. The operator
 * counts as an owner. AppError `forbidden` for API keys, `not_found` if the caller has left the team.
 */
export function callerRole(members: readonly LockedMember[], { actor }: Ctx): Role {
  if (actor.kind === "operator") return "owner";
  if (actor.kind !== "user")
    throw new AppError("forbidden", "An API key cannot manage members. Sign in to the console.");
  const self = members.find(({ userId }) => userId === actor.userId);
  if (!self) throw notFound("Team");
  return self.role;
}

/**
 * Requires that the role `mine` may assign, remove or change these roles. AppError `forbidden` names the
 * required roles.
 */
export function requireRightToManage(mine: Role, roles: readonly Role[]): void {
  const permission = roles.includes("owner") ? "owners:write" : "members:write";
  if (!hasPermission(mine, permission))
    throw new AppError("forbidden", formatMissingPermission(mine, permission));
}
