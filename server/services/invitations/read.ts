import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { invitations } from "#db/schema/invitations";
import { type Role, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";

/** An invitation that waits to be accepted. What its link says is told only by whoever made it, when they made it. */
export type Invitation = {
  id: string;
  email: string;
  role: Role;
  /** The address of whoever sent it; null for the operator, or where they are gone. */
  invitedBy: string | null;
  /** When its link was made. */
  linkedAt: Date;
  expiresAt: Date;
  isExpired: boolean;
};

/** Accepted by nobody yet, and not withdrawn; it may have run out. */
export const isWaiting = and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt));

/** The team's invitations that wait, newest first. */
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
    .where(and(eq(invitations.teamId, ctx.teamId), isWaiting))
    .orderBy(desc(invitations.id));
}
