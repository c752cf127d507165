import { createHash } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { z } from "zod";
import { isUniqueViolation } from "#db/faults";
import { twoFactorChallenges } from "#db/schema/account";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { deviceOf } from "#server/platform/http/device";
import { hourMs } from "#server/shared/durations";
import { recordAccountEvent } from "../people/events";
import { endSessionsExcept, lockUserOfSession } from "../people/lock";
import type { LimitedDeps } from "../people/sign-in-counters";
import { revokeSignInTokens } from "../people/sign-in-tokens";
import { type Owner, parseUserAddress, type User, verifyPassword } from "../people/users";
import { findSystemEmailFault, LINK_MINUTES, queueLink, queueSystemEmail } from "../system-mail/queue";
import { countProof, hasPassword, reauthenticate } from "./reauthenticate";

/**
 * What the link contains, encrypted for its user. It is valid while the address and the password are those of
 * the request, so it works once.
 */
const Change = z.strictObject({ from: z.string(), to: z.string(), stamp: z.string(), expiresAt: z.number() });

const locationOf = (userId: string) => ({ table: "users", column: "email", id: userId, teamId: "" });
const noticeHours = 24;

/**
 * Sends a link to a new address of the owner. The address changes when the owner opens the link in a session
 * of theirs. Requires the password; of a user without one, another proof. AppError `invalid` for a wrong
 * password or address, `conflict` if system email cannot be sent or the present address was never verified.
 * Whether another user has the address is not disclosed.
 */
export async function requestAddressChange(
  deps: LimitedDeps,
  owner: Owner,
  input: { email: string; proof: string },
): Promise<void> {
  const { user, visitor } = owner;
  const to = parseUserAddress(input.email);
  if (to === user.email) throw new AppError("invalid", "This is your present address. Enter another one.");
  await requirePassword(deps, owner, input.proof);
  const fault = await findSystemEmailFault(deps);
  if (fault !== null) throw new AppError("conflict", `The link cannot be sent. ${fault}`);
  const { stamp, isVerified } = await readStamp(deps, user.id);
  // Who saw an invitation could otherwise keep the account from the person who was invited.
  if (!isVerified)
    throw new AppError("conflict", "Sign in once with a link sent to your present address, then change it.");
  const expiresAt = deps.clock().getTime() + LINK_MINUTES.address_confirmation * 60_000;
  const change = JSON.stringify({ from: user.email, to, stamp, expiresAt });
  const confirm = Buffer.from(deps.vault.seal(change, locationOf(user.id))).toString("base64url");
  const path = `/console/settings/profile?confirm=${confirm}`;
  const details = { path, from: user.email, device: deviceOf(visitor.userAgent) };
  await queueLink(deps, { kind: "address_confirmation", to, details });
  deps.wake();
}

/**
 * Changes the owner's address to that of a link. Ends their other sessions and all links that were sent to
 * the former address, which is informed. AppError `invalid` if the link is not valid or is of another user,
 * `conflict` if another user has the address.
 */
export async function confirmAddressChange(deps: Deps, owner: Owner, token: string): Promise<User> {
  const { user, sessionId, visitor } = owner;
  const change = openChange(deps, user.id, token);
  await deps.db.transaction(async (tx) => {
    await lockUserOfSession(tx, { userId: user.id, sessionId });
    const { email: from, stamp } = await readStamp({ db: tx }, user.id);
    if (from !== change.from || stamp !== change.stamp) throw invalidLink();
    try {
      await tx
        .update(users)
        .set({ email: change.to, addressVerifiedAt: sql`now()` })
        .where(eq(users.id, user.id));
    } catch (error) {
      if (!isUniqueViolation(error, "users_email_key")) throw error;
      throw new AppError("conflict", `${change.to} belongs to another account. Use another address.`);
    }
    await endSessionsExcept(tx, user.id, sessionId);
    await tx.delete(twoFactorChallenges).where(eq(twoFactorChallenges.userId, user.id));
    await revokeSignInTokens(tx, user.id);
    await recordAccountEvent(tx, { userId: user.id, kind: "address_changed", subject: change.to, visitor });
    const now = deps.clock();
    await queueSystemEmail(tx, deps, {
      kind: "address_changed",
      to: from,
      expiresAt: new Date(now.getTime() + noticeHours * hourMs),
      details: { at: now.toISOString(), to: change.to, device: deviceOf(visitor.userAgent), path: "/login" },
    });
  });
  deps.wake();
  return { ...user, email: change.to };
}

async function requirePassword(deps: LimitedDeps, owner: Owner, proof: string): Promise<void> {
  const { user } = owner;
  if (!(await hasPassword(deps, user.id))) return reauthenticate(deps, owner, proof);
  await countProof(deps, user);
  if (!(await verifyPassword(deps, { email: user.email, password: proof })))
    throw new AppError("invalid", "Incorrect password.");
}

/** The present address, and a digest that changes with the password. */
async function readStamp({ db }: Pick<Deps, "db">, userId: string) {
  const [found] = await db
    .select({ email: users.email, hash: users.passwordHash, verifiedAt: users.addressVerifiedAt })
    .from(users)
    .where(eq(users.id, userId));
  const stamp = createHash("sha256")
    .update(found?.hash ?? "")
    .digest("base64url");
  return { email: found?.email ?? "", stamp, isVerified: found !== undefined && found.verifiedAt !== null };
}

function openChange(deps: Deps, userId: string, token: string): z.infer<typeof Change> {
  let change: z.infer<typeof Change>;
  try {
    const sealed = Buffer.from(token, "base64url").toString();
    change = Change.parse(JSON.parse(deps.vault.open(sealed, locationOf(userId))));
  } catch {
    throw invalidLink();
  }
  if (change.expiresAt <= deps.clock().getTime()) throw invalidLink();
  return change;
}

const invalidLink = () =>
  new AppError(
    "invalid",
    "The link has expired, was already used, or belongs to another account. Sign in to the account that requested it, or request the change again.",
  );
