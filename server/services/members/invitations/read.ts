import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { invitations, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import type { Invitation } from "#server/shared/wire/people/invitation";

/** Neither accepted nor withdrawn. A pending invitation may have expired. */
export const isPending = and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt));

/** The team's pending invitations, newest first. */
export async function listInvitations(ctx: Ctx): Promise<Invitation[]> {
  return ctx.db
    .select({
      id: invitations.id,
      email: invitations.email,
      role: invitations.role,
      invitedBy: users.email,
      linkedAt: invitations.linkedAt,
      expiresAt: invitations.expiresAt,
      isExpired: sql<boolean>`${invitations.expiresAt} <= now()`,
    })
    .from(invitations)
    .leftJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(eq(invitations.teamId, ctx.teamId), isPending))
    .orderBy(desc(invitations.id));
}
