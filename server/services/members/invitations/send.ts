import { and, eq, gt, lte, type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { invitations, type Role, teams, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { createOneTimeToken, hashToken } from "#server/platform/secrets/one-time-token";
import type { CreatedInvitation } from "#server/shared/wire/people/invitation";
import { recordAudit } from "../../audit/record";
import { parseUserAddress } from "../../people/users";
import { findSystemEmailFault, queueSystemEmail } from "../../system-mail/queue";
import { callerRole, lockMembers, requireRightToManage } from "../lock";
import { isPending } from "./read";
import { revoke } from "./withdraw";

export const INVITATION_LIMITS = {
  /** Validity of an invitation. */
  days: 7,
  /** Pending invitations of one team. */
  pending: 100,
  /** Links that one team creates in 24 hours. */
  linksPerDay: 200,
  /** Minimum time between two links of the same invitation. */
  secondsBetween: 30,
} as const;

/**
 * Invites an email address to the team. AppError `forbidden` if the caller may not assign the role,
 * `conflict` if the address is a member or has a pending invitation, `rate_limited` above
 * `INVITATION_LIMITS`.
 */
export async function inviteMember(
  ctx: Ctx,
  { role, ...input }: { email: string; role: Role },
): Promise<CreatedInvitation> {
  const email = parseUserAddress(input.email);
  return createLink(ctx, async (tx, link) => {
    const members = await lockMembers(tx, ctx.teamId);
    requireRightToManage(callerRole(members, ctx), [role]);
    if (members.some((member) => member.email === email))
      throw new AppError("conflict", `${email} is already a member of this team.`);
    await revoke(tx, ctx, and(eq(invitations.email, email), lte(invitations.expiresAt, sql`now()`)));
    await requireInvitationBelowMax(tx, ctx, email);
    const id = newId();
    const subject = { id, name: email };
    await recordAudit(tx, ctx, { action: "member.invited", subject, detail: { role } });
    return tx
      .insert(invitations)
      .values({ teamId: ctx.teamId, id, email, role, ...link })
      .returning(WRITTEN);
  });
}

/**
 * Creates a new link for a pending or expired invitation. It is valid as long as the link of a new
 * invitation, and all earlier links become invalid. The caller becomes the inviter.
 */
export async function renewInvitation(ctx: Ctx, id: string): Promise<CreatedInvitation> {
  return createLink(ctx, async (tx, link) => {
    const mine = callerRole(await lockMembers(tx, ctx.teamId), ctx);
    const isThis = and(eq(invitations.teamId, ctx.teamId), eq(invitations.id, id), isPending);
    const [found] = await tx
      .select({
        email: invitations.email,
        role: invitations.role,
        isTooSoon: sql<boolean>`linked_at > now() - ${INVITATION_LIMITS.secondsBetween} * interval '1 second'`,
      })
      .from(invitations)
      .where(isThis)
      .for("update");
    if (!found) throw notFound("Invitation");
    const { email, role } = found;
    requireRightToManage(mine, [role]);
    if (found.isTooSoon)
      throw new AppError(
        "rate_limited",
        `A link for ${email} was created a moment ago. Wait ${INVITATION_LIMITS.secondsBetween} seconds.`,
      );
    await requireLinkQuota(tx, ctx);
    const subject = { id, name: email };
    await recordAudit(tx, ctx, { action: "invitation.renewed", subject, detail: { role } });
    return tx
      .update(invitations)
      .set({ ...link, linkedAt: sql`now()` })
      .where(isThis)
      .returning(WRITTEN);
  });
}

const WRITTEN = {
  id: invitations.id,
  email: invitations.email,
  role: invitations.role,
  expiresAt: invitations.expiresAt,
};

const expiryTime = sql`now() + ${INVITATION_LIMITS.days} * interval '1 day'`;

/**
 * Creates a link and calls `write` with its columns in a transaction. Queues an email if system email is
 * configured. The email has a separate link: it proves that the recipient has read the mailbox, which the
 * inviter's link does not.
 */
async function createLink(
  ctx: Ctx,
  write: (
    tx: Db,
    link: {
      tokenHash: Uint8Array;
      mailedTokenHash: Uint8Array | null;
      invitedBy: string | null;
      expiresAt: SQL;
    },
  ) => Promise<Pick<CreatedInvitation, "id" | "email" | "role" | "expiresAt">[]>,
): Promise<CreatedInvitation> {
  const token = createOneTimeToken();
  const mailFault = await findSystemEmailFault(ctx);
  const emailedToken = mailFault === null ? createOneTimeToken() : null;
  const created = await ctx.db.transaction(async (tx) => {
    const [invitation] = await write(tx, {
      tokenHash: hashToken(token),
      mailedTokenHash: emailedToken === null ? null : hashToken(emailedToken),
      invitedBy: ctx.actor.kind === "user" ? ctx.actor.userId : null,
      expiresAt: expiryTime,
    });
    if (!invitation) throw new Error("a written invitation returned no row");
    const { email: to, role, expiresAt } = invitation;
    if (emailedToken) {
      const details = { path: linkPath(emailedToken), role, ...(await readInvitationSender(tx, ctx)) };
      await queueSystemEmail(tx, ctx, { kind: "invitation", to, details, expiresAt });
    }
    const link = `${ctx.home.url}${linkPath(token)}`;
    return { ...invitation, link, isMailed: emailedToken !== null, mailFault };
  });
  if (emailedToken) ctx.wake();
  return created;
}

// The token is in the fragment, which browsers do not send, so it reaches no server and no log.
const linkPath = (token: string) => `/invite#${token}`;

async function readInvitationSender(tx: Db, { teamId, actor }: Ctx) {
  const userId = actor.kind === "user" ? actor.userId : null;
  const [row] = await tx
    .select({ team: teams.name, inviter: users.email })
    .from(teams)
    .leftJoin(users, userId === null ? sql`false` : eq(users.id, userId))
    .where(eq(teams.id, teamId));
  if (!row) throw notFound("Team");
  return row;
}

// The members are locked, so no concurrent request can exceed the limit.
async function requireInvitationBelowMax(tx: Db, ctx: Ctx, email: string): Promise<void> {
  const pending = await tx
    .select({ email: invitations.email })
    .from(invitations)
    .where(and(eq(invitations.teamId, ctx.teamId), isPending));
  if (pending.some((other) => other.email === email))
    throw new AppError(
      "conflict",
      `${email} already has a pending invitation. Create a new link for it, or withdraw it first.`,
    );
  if (pending.length >= INVITATION_LIMITS.pending)
    throw new AppError(
      "rate_limited",
      `This team has ${INVITATION_LIMITS.pending} pending invitations, which is the maximum. Withdraw some first.`,
    );
  await requireLinkQuota(tx, ctx);
}

async function requireLinkQuota(tx: Db, ctx: Ctx): Promise<void> {
  const isToday = gt(invitations.linkedAt, sql`now() - interval '1 day'`);
  const today = await tx.$count(invitations, and(eq(invitations.teamId, ctx.teamId), isToday));
  if (today >= INVITATION_LIMITS.linksPerDay)
    throw new AppError(
      "rate_limited",
      `This team created ${INVITATION_LIMITS.linksPerDay} invitation links in 24 hours, which is the maximum. Try again tomorrow.`,
    );
}
