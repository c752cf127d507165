import { and, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { memberships, type Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { recordAudit } from "../audit/record";
import { withdrawBeyond } from "../invitations/withdraw";
import { type LockedMember, lockMembers, requireMayHandle, roleAmong } from "./locked";

/**
 * Gives a member another role, felt at their next call. Owners are made and unmade by owners alone, and the last one stays
 * (AppError `forbidden`, `conflict`). Invitations of theirs that the new role could not send are withdrawn.
 */
export async function changeRole(ctx: Ctx, input: { userId: string; role: Role }): Promise<void> {
  const { userId, role } = input;
  await ctx.db.transaction(async (tx) => {
    const members = await lockMembers(tx, ctx.teamId);
    const mine = roleAmong(members, ctx);
    const member = findMember(members, userId);
    requireMayHandle(mine, [member.role, role]);
    if (member.role === role) return;
    requireOwnerBeside(members, member);
    await tx.update(memberships).set({ role }).where(isMember(ctx, userId));
    await withdrawBeyond(tx, ctx, { userId, role });
    await recordAudit(tx, ctx, {
      action: "member.role_changed",
      subject: { id: userId, name: member.email },
      detail: { role, role_before: member.role },
    });
  });
}

/**
 * Takes somebody out of the team: their next call finds none, and no invitation of theirs opens it again. Keys that they made
 * are the team's and stay. Taking oneself out is leaving. The last owner stays (AppError `conflict`).
 */
export async function removeMember(ctx: Ctx, userId: string): Promise<void> {
  const { actor } = ctx;
  const isLeaving = actor.kind === "user" && actor.userId === userId;
  await ctx.db.transaction(async (tx) => {
    const members = await lockMembers(tx, ctx.teamId);
    const mine = roleAmong(members, ctx);
    const member = findMember(members, userId);
    if (!isLeaving) requireMayHandle(mine, [member.role]);
    requireOwnerBeside(members, member);
    await withdrawBeyond(tx, ctx, { userId, role: null });
    await recordAudit(tx, ctx, {
      action: isLeaving ? "member.left" : "member.removed",
      subject: { id: userId, name: member.email },
      detail: { role: member.role },
    });
    await tx.delete(memberships).where(isMember(ctx, userId));
  });
}

/** Takes the caller out of the team. */
export async function leaveTeam(ctx: Ctx): Promise<void> {
  if (ctx.actor.kind !== "user") throw new AppError("forbidden", "Only a member can leave a team.");
  await removeMember(ctx, ctx.actor.userId);
}

/** Writes that somebody is in the team from now on; whoever is in it already keeps the role they have. */
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

function requireOwnerBeside(members: readonly LockedMember[], member: LockedMember): void {
  const isLast = !members.some(({ userId, role }) => role === "owner" && userId !== member.userId);
  if (member.role === "owner" && isLast)
    throw new AppError(
      "conflict",
      `${member.email} is the team's last owner. Make somebody else an owner first.`,
    );
}
