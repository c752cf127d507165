import { and, eq, or, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { invitations, type Role, teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError, type ErrorCode } from "#server/platform/errors";
import { hashToken, isOneTimeToken } from "#server/platform/secrets/one-time-token";
import type { InvitationFault, InvitationPreview } from "#server/shared/wire/people/invitation";
import { recordAudit } from "../audit/record";
import { addMember } from "../members/change";
import { requireAttempt, type SignInLimiter } from "../people/sign-in-counters";
import { findUser, insertUser, prepareUser, type User } from "../people/users";

const FAULTS: Record<InvitationFault, { code: ErrorCode; message: string }> = {
  unknown: {
    code: "not_found",
    message:
      "This invitation link is not valid. Check that you copied all of it. A newer link for the same invitation may have replaced it.",
  },
  accepted: {
    code: "conflict",
    message: "This invitation was already accepted. Sign in to open the team.",
  },
  withdrawn: {
    code: "conflict",
    message: "This invitation was withdrawn. Ask the sender for a new one.",
  },
  expired: {
    code: "conflict",
    message: "This invitation has expired. Ask the sender for a new one.",
  },
};

/**
 * Attempts per sliding minute: links from one IP address, and attempts to accept one invitation, each of which hashes a
 * password.
 */
export const INVITATION_ATTEMPTS_PER_MINUTE = { address: 30, invitation: 6 } as const;

/** Reads an invitation by its link, without using it. AppError `rate_limited` after too many links. */
export async function readInvitation(
  deps: Deps & { signInLimiter: SignInLimiter },
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
 * Creates the invited user and adds them to the team; the link is valid once. AppError `invalid` for an invalid password,
 * `conflict` if the address already has a user, `not_found` or `conflict` for an invalid link, `rate_limited` after too many
 * attempts. On an error nothing changes.
 */
export async function acceptAsNew(
  deps: Deps & { signInLimiter: SignInLimiter },
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
    const created = await insertUser(tx, user, { isAddressProved: invitation.isEmailedLink });
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

type StoredInvitation = {
  state: "open" | Exclude<InvitationFault, "unknown">;
  teamId: string;
  id: string;
  email: string;
  role: Role;
  invitedBy: string | null;
  expiresAt: Date;
  /** Whether this is the emailed link, which only the recipient has. */
  isEmailedLink: boolean;
};

async function findByToken(db: Db, token: string, lock?: "update"): Promise<StoredInvitation | null> {
  if (!isOneTimeToken(token)) return null;
  const tokenHash = hashToken(token);
  const query = db
    .select({
      state: sql<StoredInvitation["state"]>`case when accepted_at is not null then 'accepted'
        when revoked_at is not null then 'withdrawn' when expires_at <= now() then 'expired' else 'open' end`,
      teamId: invitations.teamId,
      id: invitations.id,
      email: invitations.email,
      role: invitations.role,
      invitedBy: invitations.invitedBy,
      expiresAt: invitations.expiresAt,
      isEmailedLink: sql<boolean>`coalesce(${eq(invitations.mailedTokenHash, tokenHash)}, false)`,
    })
    .from(invitations)
    .where(or(eq(invitations.tokenHash, tokenHash), eq(invitations.mailedTokenHash, tokenHash)));
  const [found] = await (lock ? query.for(lock) : query);
  return found ?? null;
}

/** An open invitation. With `lock`, one of several concurrent requests accepts it. Throws AppError for an invalid link. */
async function requireOpen(db: Db, token: string, lock?: "update"): Promise<StoredInvitation> {
  const found = await findByToken(db, token, lock);
  const state = found?.state ?? "unknown";
  if (found && state === "open") return found;
  const { code, message } = FAULTS[state === "open" ? "unknown" : state];
  throw new AppError(code, message);
}

/** Marks an invitation as accepted and adds the member. The caller has locked the invitation's row. */
export async function join(
  tx: Db,
  deps: Deps,
  input: { invitation: { teamId: string; id: string; role: Role }; user: User; requestId: string },
): Promise<void> {
  const { user, requestId } = input;
  const { teamId, id, role } = input.invitation;
  const ctx: Ctx = { ...deps, teamId, actor: { kind: "user", userId: user.id }, requestId };
  await tx
    .update(invitations)
    .set({ acceptedAt: sql`now()`, acceptedBy: user.id })
    .where(and(eq(invitations.teamId, teamId), eq(invitations.id, id)));
  if (!(await addMember(tx, ctx, { userId: user.id, role }))) return;
  await recordAudit(tx, ctx, {
    action: "member.joined",
    subject: { id: user.id, name: user.email },
    detail: { role },
  });
}
