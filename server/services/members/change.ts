import { and, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { memberships, type Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { recordAudit } from "../audit/record";
import { withdrawInvitationsAboveRole } from "./invitations/withdraw";
import { callerRole, type LockedMember, lockMembers, requireRightToManage } from "./lock";

/**
 * Changes a member's role, with effect from their next request. Only owners can add or demote owners
 * (AppError `forbidden`), and the last owner cannot be demoted (`conflict`). Withdraws the member's pending
 * invitations that the new role may not send.
 */
export async function changeRole(ctx: Ctx, input: { userId: string; role: Role }): Promise<void> {
  const { userId, role } = input;
  await ctx.db.transaction(async (tx) => {
    const members = await lockMembers(tx, ctx.teamId);
    const mine = callerRole(members, ctx);
    const member = findMember(members, userId);
    requireRightToManage(mine, [member.role, role]);
    if (member.role === role) return;
    requireAnotherOwner(members, member);
    await tx.update(memberships).set({ role }).where(isMember(ctx, userId));
    await withdrawInvitationsAboveRole(tx, ctx, { userId, role });
    await recordAudit(tx, ctx, {
      action: "member.role_changed",
      subject: { id: userId, name: member.email },
      detail: { role, role_before: member.role },
    });
  });
}

/**
 * Removes a member from the team, with effect from their next request, and withdraws the invitations they
 * sent. API keys that they created belong to the team and remain. Members who remove themselves leave the
 * team. The last owner cannot be removed (AppError `conflict`).
 */
export async function removeMember(ctx: Ctx, userId: string): Promise<void> {
  const { actor } = ctx;
  const isLeaving = actor.kind === "user" && actor.userId === userId;
  await ctx.db.transaction(async (tx) => {
    const members = await lockMembers(tx, ctx.teamId);
    const mine = callerRole(members, ctx);
    const member = findMember(members, userId);
    if (!isLeaving) requireRightToManage(mine, [member.role]);
    requireAnotherOwner(members, member);
    await withdrawInvitationsAboveRole(tx, ctx, { userId, role: null });
    await recordAudit(tx, ctx, {
      action: isLeaving ? "member.left" : "member.removed",
      subject: { id: userId, name: member.email },
      detail: { role: member.role },
    });
    await tx.delete(memberships).where(isMember(ctx, userId));
  });
}

/** Removes the caller from the team. */
export async function leaveTeam(ctx: Ctx): Promise<void> {
  if (ctx.actor.kind !== "user") throw new AppError("forbidden", "Only a member can leave a team.");
  await removeMember(ctx, ctx.actor.userId);
}

/** Adds a user to the team. Returns false for an existing member, whose role stays unchanged. */
export async function addMember(tx: Db, ctx: Ctx, member: { userId: string; role: Role }): Promise<boolean> {
  const added = await tx
    .insert(memberships)
    .values({ teamId: ctx.teamId, ...member })
    .onConflictDoNothing()
    .returning({ userId: memberships.userId });
  return added.length > 0;
}

const isMember = (ctx: Ctx, userId: string) =>
  and(eq(memberships.teamId, ctx.teamId), eq(memberships.userId, userId));

function findMember(members: readonly LockedMember[], userId: string): LockedMember {
  const member = members.find((each) => each.userId === userId);
  if (!member) throw notFound("Member");
  return member;
}

function requireAnotherOwner(members: readonly LockedMember[], member: LockedMember): void {
  const isLast = !members.some(({ userId, role }) => role === "owner" && userId !== member.userId);
  if (member.role === "owner" && isLast)
    throw new AppError(
      "conflict",
      `${member.email} is the team's last owner. Make another member an owner first.`,
    );
}
