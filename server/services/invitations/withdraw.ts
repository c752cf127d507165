import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { invitations } from "#db/schema/invitations";
import type { Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { mayDo } from "#server/roles";
import { recordAudit } from "../audit/record";
import { lockMembers, requireMayHandle, roleAmong } from "../members/locked";
import { isWaiting } from "./read";

/** Makes an invitation worthless. An owner's invitation is an owner's to withdraw. */
export async function withdrawInvitation(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const mine = roleAmong(await lockMembers(tx, ctx.teamId), ctx);
    const [withdrawn] = await revoke(tx, ctx, eq(invitations.id, id));
    if (!withdrawn) throw notFound("Invitation");
    requireMayHandle(mine, [withdrawn.role]);
  });
}

/**
 * Withdraws what somebody sent and could not send any more in the role that they have from now on; null: none. Who is taken
 * out of a team does not come back by a link that they made before.
 */
export async function withdrawBeyond(
  tx: Db,
  ctx: Ctx,
  { userId, role }: { userId: string; role: Role | null },
): Promise<void> {
  if (role && mayDo(role, "owners:write")) return;
  const isBeyond = role && mayDo(role, "members:write") ? eq(invitations.role, "owner") : undefined;
  await revoke(tx, ctx, and(eq(invitations.invitedBy, userId), isBeyond));
}

/** Withdraws those that wait, and writes each of them down. */
export async function revoke(
  tx: Db,
  ctx: Ctx,
  which: SQL | undefined,
): Promise<{ id: string; email: string; role: Role }[]> {
  const revoked = await tx
    .update(invitations)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(invitations.teamId, ctx.teamId), which, isWaiting))
    .returning({ id: invitations.id, email: invitations.email, role: invitations.role });
  for (const { id, email, role } of revoked)
    await recordAudit(tx, ctx, {
      action: "invitation.revoked",
      subject: { id, name: email },
      detail: { role },
    });
  return revoked;
}
