import { and, asc, eq, gt, or, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { invitations, teams, users } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { hashToken, isOneTimeToken } from "#server/platform/secrets/one-time-token";
import type { InvitationFault, InvitationPreview } from "#server/shared/wire/people/invitation";
import { recordAudit } from "../../audit/record";
import { type LimitedDeps, requireAttempt } from "../../people/sign-in-counters";
import { findUser, insertUser, prepareUser, type User } from "../../people/users";
import { addMember } from "../change";
import { isPending } from "./read";

const FAULTS: Record<InvitationFault, string> = {
  unknown:
    "This invitation link is not valid. Check that you copied all of it. A newer link for the same invitation may have replaced it.",
  accepted: "This invitation was already accepted. Sign in to open the team.",
  withdrawn: "This invitation was withdrawn. Ask the sender for a new one.",
  expired: "This invitation has expired. Ask the sender for a new one.",
};

/**
 * Attempts per sliding minute: links from one IP address, and attempts to accept one invitation, each of
 * which hashes a password.
 */
export const INVITATION_ATTEMPTS_PER_MINUTE = { address: 30, invitation: 6 } as const;

/** Reads an invitation by its link, without using it. AppError `rate_limited` after too many links. */
export async function getInvitation(
  deps: LimitedDeps,
  { token, address }: { token: string; address: string },
): Promise<InvitationPreview> {
  await requireAttempt(deps, `invitation:${address}`, INVITATION_ATTEMPTS_PER_MINUTE.address);
  const found = await findByToken(deps.db, token);
  if (!found) return { state: "unknown" };
  if (found.state !== "open") return { state: found.state };
  const [details] = await deps.db
    .select({
      teamName: teams.name,
      invitedBy: sql<string | null>`(select u.email from users u where u.id = ${found.invitedBy})`,
      hasUser: sql<boolean>`exists (select from users u where u.email = ${found.email})`,
    })
    .from(teams)
    .where(eq(teams.id, found.teamId));
  if (!details) return { state: "unknown" };
  const { email, role, expiresAt } = found;
  return { state: "open", ...details, email, role, expiresAt };
}

export type NewPerson = { name: string; password: string };

/**
 * Creates the invited user and adds them to the team; the link is valid once. AppError `invalid` for an
 * invalid password, `conflict` if the address already has a user, `not_found` or `conflict` for an invalid
 * link, `rate_limited` after too many attempts. On an error nothing changes.
 */
export async function acceptAsNew(
  deps: LimitedDeps,
  input: { token: string; address: string; requestId: string } & NewPerson,
): Promise<{ user: User; teamId: string }> {
  await requireAttempt(deps, `invitation:${input.address}`, INVITATION_ATTEMPTS_PER_MINUTE.address);
  // Checked before the password is hashed: only a valid link that can create a user may trigger that work.
  const { id, email } = await requireOpen(deps.db, input.token);
  if (await findUser(deps, email))
    throw new AppError(
      "conflict",
      `A user with the address ${email} already exists. Sign in as ${email}, then open the link again.`,
    );
  await requireAttempt(deps, `accept:${id}`, INVITATION_ATTEMPTS_PER_MINUTE.invitation);
  const user = await prepareUser({ email, password: input.password, name: input.name });
  return deps.db.transaction(async (tx) => {
    const invitation = await requireOpen(tx, input.token, "update");
    const created = await insertUser(tx, user, { isAddressVerified: invitation.isEmailedLink });
    await join(tx, deps, { invitation, user: created, requestId: input.requestId });
    return { user: created, teamId: invitation.teamId };
  });
}

/** Adds a signed-in user to the team. AppError `forbidden` if the invitation is for another address. */
export async function acceptAsUser(
  deps: Deps,
  input: { token: string; requestId: string; user: User },
): Promise<{ teamId: string }> {
  const { token, requestId, user } = input;
  return deps.db.transaction(async (tx) => {
    const invitation = await requireOpen(tx, token, "update");
    const { email } = invitation;
    if (email !== user.email)
      throw new AppError(
        "forbidden",
        `This invitation is for ${email}, and you are signed in as ${user.email}.`,
      );
    await join(tx, deps, { invitation, user, requestId });
    return { teamId: invitation.teamId };
  });
}

/**
 * Creates a user without a password for a verified email address, and adds them to all teams with a pending
 * invitation for it. Null, without any change, if none is pending. `deps.db` must be a transaction.
 */
export async function acceptForVerifiedAddress(
  deps: Deps,
  input: { email: string; name: string | null; requestId: string },
): Promise<User | null> {
  const { email, name, requestId } = input;
  const open = await deps.db
    .select({ teamId: invitations.teamId, id: invitations.id, role: invitations.role })
    .from(invitations)
    .where(and(eq(invitations.email, email), isPending, gt(invitations.expiresAt, sql`now()`)))
    .orderBy(asc(invitations.id))
    .for("update");
  if (open.length === 0) return null;
  const user = { id: newId(), email, name };
  await deps.db.insert(users).values({ ...user, passwordHash: null, addressVerifiedAt: sql`now()` });
  for (const invitation of open) await join(deps.db, deps, { invitation, user, requestId });
  return user;
}

type StoredInvitation = NonNullable<Awaited<ReturnType<typeof findByToken>>>;

async function findByToken(db: Db, token: string, lock?: "update") {
  if (!isOneTimeToken(token)) return null;
  const tokenHash = hashToken(token);
  const query = db
    .select({
      state: sql<
        "open" | Exclude<InvitationFault, "unknown">
      >`case when accepted_at is not null then 'accepted'
        when revoked_at is not null then 'withdrawn' when expires_at <= now() then 'expired' else 'open' end`,
      teamId: invitations.teamId,
      id: invitations.id,
      email: invitations.email,
      role: invitations.role,
      invitedBy: invitations.invitedBy,
      expiresAt: invitations.expiresAt,
      /** Whether this is the emailed link, which only the recipient has. */
      isEmailedLink: sql<boolean>`coalesce(${eq(invitations.mailedTokenHash, tokenHash)}, false)`,
    })
    .from(invitations)
    .where(or(eq(invitations.tokenHash, tokenHash), eq(invitations.mailedTokenHash, tokenHash)));
  const [found] = await (lock ? query.for(lock) : query);
  return found ?? null;
}

/**
 * An open invitation. With `lock`, one of several concurrent requests accepts it. Throws AppError for an
 * invalid link.
 */
async function requireOpen(db: Db, token: string, lock?: "update"): Promise<StoredInvitation> {
  const found = await findByToken(db, token, lock);
  if (!found) throw new AppError("not_found", FAULTS.unknown);
  if (found.state !== "open") throw new AppError("conflict", FAULTS[found.state]);
  return found;
}

/** Marks an invitation as accepted and adds the member. The caller has locked the invitation's row. */
async function join(
  tx: Db,
  deps: Deps,
  input: { invitation: Pick<StoredInvitation, "teamId" | "id" | "role">; user: User; requestId: string },
): Promise<void> {
  const { user, requestId } = input;
  const { teamId, id, role } = input.invitation;
  const ctx: Ctx = { ...deps, teamId, actor: { kind: "user", userId: user.id }, requestId };
  await tx
    .update(invitations)
    .set({ acceptedAt: sql`now()`, acceptedBy: user.id })
    .where(and(eq(invitations.teamId, teamId), eq(invitations.id, id)));
  if (!(await addMember(tx, ctx, { userId: user.id, role }))) return;
  const subject = { id: user.id, name: user.email };
  await recordAudit(tx, ctx, { action: "member.joined", subject, detail: { role } });
}
