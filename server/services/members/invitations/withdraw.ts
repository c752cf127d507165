import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { invitations, type Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { hasPermission } from "#server/shared/roles";
import { recordAudit } from "../../audit/record";
import { callerRole, lockMembers, requireRightToManage } from "../lock";
import { isPending } from "./read";

/** Withdraws a pending invitation. Only an owner may withdraw an invitation for the owner role. */
export async function withdrawInvitation(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const mine = callerRole(await lockMembers(tx, ctx.teamId), ctx);
    const [withdrawn] = await revoke(tx, ctx, eq(invitations.id, id));
    if (!withdrawn) throw notFound("Invitation");
    requireRightToManage(mine, [withdrawn.role]);
  });
}

/**
 * Withdraws the user's pending invitations that their new role may not send. `role` is null for a removed
 * member, who must not come back with a link that they created earlier.
 */
export async function withdrawInvitationsAboveRole(
  tx: Db,
  ctx: Ctx,
  { userId, role }: { userId: string; role: Role | null },
): Promise<void> {
  if (role && hasPermission(role, "owners:write")) return;
  const isAboveRole =
    role && hasPermission(role, "members:write") ? eq(invitations.role, "owner") : undefined;
  await revoke(tx, ctx, and(eq(invitations.invitedBy, userId), isAboveRole));
}

/** Withdraws the pending invitations that match, and records each in the audit log. */
export async function revoke(
  tx: Db,
  ctx: Ctx,
  which: SQL | undefined,
): Promise<{ id: string; email: string; role: Role }[]> {
  const revoked = await tx
    .update(invitations)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(invitations.teamId, ctx.teamId), which, isPending))
    .returning({ id: invitations.id, email: invitations.email, role: invitations.role });
  for (const { id, email: name, role } of revoked)
    await recordAudit(tx, ctx, { action: "invitation.revoked", subject: { id, name }, detail: { role } });
  return revoked;
}
