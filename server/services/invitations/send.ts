import { and, count, eq, gt, lte, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { invitations } from "#db/schema/invitations";
import { type Role, teams, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { recordAudit } from "../audit/record";
import { lockMembers, requireMayHandle, roleAmong } from "../members/locked";
import { canSendSystemMail, queueSystemMail } from "../system-mail/queue";
import { readAddress } from "../users";
import { isWaiting } from "./read";
import { mintInvitationToken } from "./token";
import { revoke } from "./withdraw";

export const INVITATION_LIMITS = {
  /** An invitation is good for so long. */
  days: 7,
  /** Of one team at the same time. */
  waiting: 100,
  /** Links of one team within a day. */
  linksPerDay: 200,
  /** Between two links of the same invitation. */
  secondsBetween: 30,
} as const;

/** What its maker is told, this once: only a hash of what the link says is kept. */
export type Invited = {
  id: string;
  email: string;
  role: Role;
  link: string;
  expiresAt: Date;
  /** Whether a link is mailed as well, which is another one; else somebody has to hand this one over. */
  isMailed: boolean;
};

/**
 * Invites the owner of an address in a role that the caller may give (AppError `forbidden`). `conflict` where the address is
 * in the team or has an invitation that waits; `rate_limited` above `INVITATION_LIMITS`.
 */
export async function inviteMember(ctx: Ctx, input: { email: string; role: Role }): Promise<Invited> {
  const email = readAddress(input.email);
  const { role } = input;
  const { token, tokenHash } = mintInvitationToken();
  const mailed = (await canSendSystemMail(ctx)) ? mintInvitationToken() : null;
  const mailedTokenHash = mailed?.tokenHash ?? null;
  const made = await ctx.db.transaction(async (tx) => {
    const members = await lockMembers(tx, ctx.teamId);
    requireMayHandle(roleAmong(members, ctx), [role]);
    if (members.some((member) => member.email === email))
      throw new AppError("conflict", `${email} is in this team already.`);
    await revoke(tx, ctx, and(eq(invitations.email, email), lte(invitations.expiresAt, sql`now()`)));
    await requireRoom(tx, ctx, email);
    const id = newId();
    const invitedBy = ctx.actor.kind === "user" ? ctx.actor.userId : null;
    const { teamId } = ctx;
    const [row] = await tx
      .insert(invitations)
      .values({ teamId, id, email, role, tokenHash, mailedTokenHash, invitedBy, expiresAt: inSomeDays })
      .returning({ expiresAt: invitations.expiresAt });
    await recordAudit(tx, ctx, {
      action: "member.invited",
      subject: { id, name: email },
      detail: { role },
    });
    return tell(tx, ctx, { id, email, role, token, expiresAt: row?.expiresAt, mailed });
  });
  if (mailed) ctx.wake();
  return made;
}

/**
 * Makes another link for an invitation that waits, or has run out: it is good for as long as a new one, and the links before
 * it open nothing any more. From now on it is the caller's invitation.
 */
export async function renewInvitation(ctx: Ctx, id: string): Promise<Invited> {
  const { token, tokenHash } = mintInvitationToken();
  const mailed = (await canSendSystemMail(ctx)) ? mintInvitationToken() : null;
  const mailedTokenHash = mailed?.tokenHash ?? null;
  const made = await ctx.db.transaction(async (tx) => {
    const mine = roleAmong(await lockMembers(tx, ctx.teamId), ctx);
    const isThis = and(eq(invitations.teamId, ctx.teamId), eq(invitations.id, id), isWaiting);
    const [found] = await tx
      .select({
        email: invitations.email,
        role: invitations.role,
        isFresh: sql<boolean>`linked_at > now() - ${INVITATION_LIMITS.secondsBetween} * interval '1 second'`,
      })
      .from(invitations)
      .where(isThis)
      .for("update");
    if (!found) throw notFound("Invitation");
    const { email, role } = found;
    requireMayHandle(mine, [role]);
    if (found.isFresh)
      throw new AppError(
        "rate_limited",
        `A link for ${email} was made a moment ago. Wait ${INVITATION_LIMITS.secondsBetween} seconds.`,
      );
    await requireFewLinks(tx, ctx);
    const invitedBy = ctx.actor.kind === "user" ? ctx.actor.userId : null;
    const [row] = await tx
      .update(invitations)
      .set({ tokenHash, mailedTokenHash, invitedBy, linkedAt: sql`now()`, expiresAt: inSomeDays })
      .where(isThis)
      .returning({ expiresAt: invitations.expiresAt });
    await recordAudit(tx, ctx, {
      action: "invitation.renewed",
      subject: { id, name: email },
      detail: { role },
    });
    return tell(tx, ctx, { id, email, role, token, expiresAt: row?.expiresAt, mailed });
  });
  if (mailed) ctx.wake();
  return made;
}

type Linked = Omit<Invited, "link" | "expiresAt" | "isMailed"> & {
  token: string;
  mailed: { token: string } | null;
  expiresAt: Date | undefined;
};

/**
 * The link for whoever asked for it, and as a mail where mail goes anywhere. The mailed one is another: whoever brings it has
 * read the mail, while this one opens the same to whoever invites.
 */
async function tell(tx: Db, ctx: Ctx, { token, mailed, expiresAt, ...invited }: Linked): Promise<Invited> {
  if (!expiresAt) throw new Error("a written invitation returned no row");
  if (mailed)
    await queueSystemMail(tx, ctx, {
      kind: "invitation",
      to: invited.email,
      details: { path: pathOf(mailed.token), role: invited.role, ...(await readLetterhead(tx, ctx)) },
      expiresAt,
    });
  return { ...invited, expiresAt, link: `${ctx.home.url}${pathOf(token)}`, isMailed: mailed !== null };
}

// Behind the mark, so that no server and no log on the way is told what it says.
const pathOf = (token: string) => `/invite#${token}`;

async function readLetterhead(tx: Db, { teamId, actor }: Ctx) {
  const userId = actor.kind === "user" ? actor.userId : null;
  const [row] = await tx
    .select({ team: teams.name, inviter: users.email })
    .from(teams)
    .leftJoin(users, userId === null ? sql`false` : eq(users.id, userId))
    .where(eq(teams.id, teamId));
  if (!row) throw notFound("Team");
  return row;
}

const inSomeDays = sql`now() + ${INVITATION_LIMITS.days} * interval '1 day'`;

// The members are locked, so nobody counts beside us.
async function requireRoom(tx: Db, ctx: Ctx, email: string): Promise<void> {
  const [found] = await tx
    .select({
      waiting: count(),
      forThis: sql<number>`count(*) filter (where email = ${email})`.mapWith(Number),
    })
    .from(invitations)
    .where(and(eq(invitations.teamId, ctx.teamId), isWaiting));
  const { waiting = 0, forThis = 0 } = found ?? {};
  if (forThis > 0)
    throw new AppError(
      "conflict",
      `${email} has an invitation already. Make another link for it, or withdraw it first.`,
    );
  if (waiting >= INVITATION_LIMITS.waiting)
    throw new AppError(
      "rate_limited",
      `${INVITATION_LIMITS.waiting} invitations wait to be accepted. Withdraw some first.`,
    );
  await requireFewLinks(tx, ctx);
}

async function requireFewLinks(tx: Db, ctx: Ctx): Promise<void> {
  const [found] = await tx
    .select({ today: count() })
    .from(invitations)
    .where(and(eq(invitations.teamId, ctx.teamId), gt(invitations.linkedAt, sql`now() - interval '1 day'`)));
  if ((found?.today ?? 0) >= INVITATION_LIMITS.linksPerDay)
    throw new AppError(
      "rate_limited",
      `This team made ${INVITATION_LIMITS.linksPerDay} invitations within a day. Go on tomorrow.`,
    );
}
