import { and, eq, or, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { invitations } from "#db/schema/invitations";
import { type Role, teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError, type ErrorCode } from "#server/errors";
import type { InProcessStore } from "#server/limits/in-process";
import { recordAudit } from "../audit/record";
import { addMember } from "../members/change";
import { findUser, insertUser, prepareUser, type User } from "../users";
import { invitationHashOf } from "./token";

/** Why the link of an invitation opens nothing. */
export type InvitationFault = "unknown" | "accepted" | "withdrawn" | "expired";

/** What whoever holds the link may know before they accept. */
export type InvitationView =
  | {
      state: "open";
      teamName: string;
      email: string;
      role: Role;
      /** The address of whoever sent it; null for the operator, or where they are gone. */
      invitedBy: string | null;
      expiresAt: Date;
      /** Whether the address signs in here already: then nobody else may accept. */
      hasUser: boolean;
    }
  | { state: InvitationFault };

const FAULTS: Record<InvitationFault, { code: ErrorCode; message: string }> = {
  unknown: {
    code: "not_found",
    message:
      "This link opens no invitation. Was it copied whole? A newer link for the same invitation may have replaced it.",
  },
  accepted: {
    code: "conflict",
    message: "This invitation was accepted already. Sign in to get to the team.",
  },
  withdrawn: {
    code: "conflict",
    message: "This invitation was withdrawn. Ask whoever sent it for another one.",
  },
  expired: {
    code: "conflict",
    message: "This invitation has run out. Ask whoever sent it for another one.",
  },
};

/**
 * Tries a minute, sliding: of links from one network address, and of accepting one invitation, which is worth a password's
 * hashing each.
 */
export const INVITATION_TRIES_PER_MINUTE = { address: 30, invitation: 6 } as const;

function requireTry(deps: { signInTries: InProcessStore }, counter: string, limit: number): void {
  if (!deps.signInTries.take(counter, limit).allowed)
    throw new AppError("rate_limited", "Too many tries. Wait a minute and try again.");
}

/** What the link of an invitation is for. Looking spends nothing. AppError `rate_limited` after many links. */
export async function lookAtInvitation(
  deps: Deps & { signInTries: InProcessStore },
  { token, address }: { token: string; address: string },
): Promise<InvitationView> {
  requireTry(deps, `invitation:${address}`, INVITATION_TRIES_PER_MINUTE.address);
  const found = await findByToken(deps.db, token);
  if (!found) return { state: "unknown" };
  if (found.state !== "open") return { state: found.state };
  const [about] = await deps.db
    .select({
      teamName: teams.name,
      invitedBy: sql<string | null>`(select u.email from users u where u.id = ${found.invitedBy})`,
      hasUser: sql<boolean>`exists (select from users u where u.email = ${found.email})`,
    })
    .from(teams)
    .where(eq(teams.id, found.teamId));
  if (!about) return { state: "unknown" };
  const { email, role, expiresAt } = found;
  return { state: "open", ...about, email, role, expiresAt };
}

export type NewPerson = { name: string; password: string };

/**
 * Makes the person whose address was invited, and lets them into the team; the link opens nothing after that. AppError
 * `invalid` for a password that will not do, `conflict` where the address has a user, `not_found` or `conflict` for a link
 * that opens nothing, `rate_limited` after many tries: then nothing is written.
 */
export async function acceptAsNew(
  deps: Deps & { signInTries: InProcessStore },
  input: { token: string; address: string; requestId: string } & NewPerson,
): Promise<{ user: User; teamId: string }> {
  requireTry(deps, `invitation:${input.address}`, INVITATION_TRIES_PER_MINUTE.address);
  // Hashing is work, which only a link that is good may set, and only where somebody can come of it.
  const { id, email } = await requireOpen(deps.db, input.token);
  if (await findUser(deps, email))
    throw new AppError(
      "conflict",
      `There is a user ${email} already. Sign in as ${email}, then open the link again.`,
    );
  requireTry(deps, `accept:${id}`, INVITATION_TRIES_PER_MINUTE.invitation);
  const user = await prepareUser({ email, password: input.password, name: input.name });
  return deps.db.transaction(async (tx) => {
    const invitation = await spend(tx, input.token, null);
    const made = await insertUser(tx, user, { isAddressProved: invitation.isByMail });
    await join(tx, deps, { invitation, user: made, requestId: input.requestId });
    return { user: made, teamId: invitation.teamId };
  });
}

/** Lets somebody who is signed in into the team. AppError `forbidden` unless the invitation is for their address. */
export async function acceptAsUser(
  deps: Deps,
  input: { token: string; requestId: string; user: User },
): Promise<{ teamId: string }> {
  const { token, requestId, user } = input;
  return deps.db.transaction(async (tx) => {
    const invitation = await spend(tx, token, user.email);
    await join(tx, deps, { invitation, user, requestId });
    return { teamId: invitation.teamId };
  });
}

type Found = {
  state: "open" | Exclude<InvitationFault, "unknown">;
  teamId: string;
  id: string;
  email: string;
  role: Role;
  invitedBy: string | null;
  expiresAt: Date;
  /** Whether the link is the one that was mailed, which nobody else was told. */
  isByMail: boolean;
};

async function findByToken(db: Db, token: string, lock?: "update"): Promise<Found | null> {
  const tokenHash = invitationHashOf(token);
  if (!tokenHash) return null;
  const query = db
    .select({
      state: sql<Found["state"]>`case when accepted_at is not null then 'accepted'
        when revoked_at is not null then 'withdrawn' when expires_at <= now() then 'expired' else 'open' end`,
      teamId: invitations.teamId,
      id: invitations.id,
      email: invitations.email,
      role: invitations.role,
      invitedBy: invitations.invitedBy,
      expiresAt: invitations.expiresAt,
      isByMail: sql<boolean>`coalesce(${eq(invitations.mailedTokenHash, tokenHash)}, false)`,
    })
    .from(invitations)
    .where(or(eq(invitations.tokenHash, tokenHash), eq(invitations.mailedTokenHash, tokenHash)));
  const [found] = await (lock ? query.for(lock) : query);
  return found ?? null;
}

async function requireOpen(db: Db, token: string, lock?: "update"): Promise<Found> {
  const found = await findByToken(db, token, lock);
  const state = found?.state ?? "unknown";
  if (found && state === "open") return found;
  const { code, message } = FAULTS[state === "open" ? "unknown" : state];
  throw new AppError(code, message);
}

/** Of many who spend the same link at once, the first does. `only`: whose it must be. */
async function spend(tx: Db, token: string, only: string | null): Promise<Found> {
  const found = await requireOpen(tx, token, "update");
  if (only !== null && found.email !== only)
    throw new AppError(
      "forbidden",
      `This invitation is for ${found.email}, and you are signed in as ${only}.`,
    );
  return found;
}

/** Writes down that an invitation was accepted, and makes the member. The row of the invitation is locked. */
export async function join(
  tx: Db,
  deps: Deps,
  {
    invitation,
    user,
    requestId,
  }: { invitation: { teamId: string; id: string; role: Role }; user: User; requestId: string },
): Promise<void> {
  const { teamId, id, role } = invitation;
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
