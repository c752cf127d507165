import type { Db } from "#db/client";
import type { Deps } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { deviceOf } from "#server/platform/http/device";
import { signInBucketOf, type Visitor } from "#server/platform/http/visitor";
import { isOneTimeToken } from "#server/platform/secrets/one-time-token";
import { recordAccountEvent } from "../../people/events";
import type { LimitedDeps } from "../../people/sign-in-counters";
import {
  consumeSignInToken,
  createSignInToken,
  getSignInToken,
  signInLinkUrl,
} from "../../people/sign-in-tokens";
import {
  findUser,
  findUserById,
  foldAddress,
  hashNewPassword,
  type User,
  writePassword,
} from "../../people/users";
import { findSystemEmailFault, queueLink } from "../../system-mail/queue";
import { markAddressVerified } from "../mark-address-verified";
import { type Admission, admit } from "./admit";

/**
 * Requests per sliding minute from one IP address or known browser: requests for a link, and requests with
 * one.
 */
export const LINK_CALLS_PER_MINUTE = { requested: 6, opened: 30 } as const;

type TooManyAttempts = { kind: "too_many_attempts" };

/** The kind of link: it signs the user in, or lets the user choose a new password. */
export type MailedLink = "sign_in_link" | "password_reset";

/**
 * Sends a link to the user with this address. The result and the work are the same if there is no such user:
 * only the worker looks up the address. `email_not_configured` if the installation cannot send system email,
 * `invalid` for an invalid address.
 */
export async function requestSignInLink(
  deps: LimitedDeps,
  input: { kind: MailedLink; email: string; landing: string; visitor: Visitor },
): Promise<
  { kind: "requested" | "invalid" } | { kind: "email_not_configured"; reason: string } | TooManyAttempts
> {
  const { visitor, landing } = input;
  const read = parseMailbox(input.email.trim());
  if (!read.ok || read.mailbox.name !== null) return { kind: "invalid" };
  const to = read.mailbox.address.toLowerCase();
  if (!(await countCall(deps, "requested", visitor, to))) return { kind: "too_many_attempts" };
  const reason = await findSystemEmailFault(deps);
  if (reason !== null) return { kind: "email_not_configured", reason };
  const details = { landing, device: deviceOf(visitor.userAgent) };
  await queueLink(deps, { kind: input.kind, to, details });
  deps.wake();
  return { kind: "requested" };
}

/**
 * The email address of a valid link, for the page that it opens. Does not use the link. Counts as an attempt.
 */
export async function getSignInLink(
  deps: LimitedDeps,
  { kind, token, visitor }: { kind: MailedLink; token: string; visitor: Visitor },
): Promise<{ kind: "valid"; email: string } | { kind: "expired" } | TooManyAttempts> {
  const found = isOneTimeToken(token) ? await getSignInToken(deps, kind, token) : null;
  const owner = found?.userId ? await findUserById(deps, found.userId) : null;
  if (!(await countCall(deps, "opened", visitor, owner?.email ?? null))) return { kind: "too_many_attempts" };
  return owner ? { kind: "valid", email: owner.email } : { kind: "expired" };
}

/**
 * Signs a user in with an email link, which is valid once. With 2FA it starts the 2FA challenge. An emailed
 * link also verifies the address (`markAddressVerified`). Of several concurrent requests with the same link,
 * one succeeds.
 */
export async function signInByLink(
  deps: LimitedDeps,
  input: { token: string; visitor: Visitor },
): Promise<Admission | { kind: "rejected" } | TooManyAttempts> {
  const link = await getSignInLink(deps, { ...input, kind: "sign_in_link" });
  if (link.kind === "too_many_attempts") return link;
  if (link.kind === "expired") return { kind: "rejected" };
  return deps.db.transaction(async (tx) => {
    const user = await consumeLink(tx, { ...input, kind: "sign_in_link" });
    if (!user) return { kind: "rejected" };
    return admit({ ...deps, db: tx }, { user, method: "link", visitor: input.visitor });
  });
}

/**
 * Replaces a user's password with a link that was emailed or that the operator created. Ends all of the
 * user's sessions and revokes all other links. It does not sign the user in: they sign in with the new
 * password, and with 2FA if it is on. AppError `invalid` for an invalid password, which leaves the link
 * valid.
 */
export async function resetPassword(
  deps: LimitedDeps,
  { password, ...input }: { token: string; password: string; visitor: Visitor },
): Promise<{ kind: "reset"; email: string } | { kind: "expired" } | TooManyAttempts> {
  // Checked before the password is hashed: a caller without a valid link must not trigger that work, and
  // hashing is too slow for a transaction.
  const link = await getSignInLink(deps, { ...input, kind: "password_reset" });
  if (link.kind !== "valid") return link;
  const passwordHash = await hashNewPassword(password);
  return deps.db.transaction(async (tx) => {
    const user = await consumeLink(tx, { ...input, kind: "password_reset" });
    if (!user) return { kind: "expired" };
    await writePassword(tx, { userId: user.id, passwordHash });
    await recordAccountEvent(tx, { userId: user.id, kind: "password_reset", visitor: input.visitor });
    return { kind: "reset", email: user.email };
  });
}

/** Uses a link and returns its user; null if it is not valid. An emailed link verifies the user's address. */
async function consumeLink(
  tx: Db,
  { kind, token, visitor }: { kind: MailedLink; token: string; visitor: Visitor },
): Promise<User | null> {
  const consumed = await consumeSignInToken(tx, kind, token);
  const user = consumed?.userId ? await findUserById({ db: tx }, consumed.userId) : null;
  if (user && consumed?.isMailed) await markAddressVerified(tx, { userId: user.id, visitor });
  return user;
}

/** Validity of a link that the operator creates and passes on, in minutes. */
export const OPERATOR_LINK_MINUTES = 60;

/**
 * Creates a password reset link that the operator passes to the user without email. The password stays
 * unchanged until the link is used. AppError `not_found` if no user has the address.
 */
export async function createResetLink(deps: Deps, email: string): Promise<{ user: User; link: string }> {
  const user = await findUser(deps, email);
  if (!user) throw new AppError("not_found", `No user has the address ${foldAddress(email)}.`);
  const token = await createSignInToken(deps, {
    purpose: "password_reset",
    userId: user.id,
    minutes: OPERATOR_LINK_MINUTES,
  });
  return { user, link: signInLinkUrl(deps.home, "password_reset", token) };
}

const countCall = (
  { signInLimiter }: LimitedDeps,
  what: keyof typeof LINK_CALLS_PER_MINUTE,
  visitor: Visitor,
  email: string | null,
): Promise<boolean> =>
  signInLimiter.take(`link-${what}:${signInBucketOf(visitor, email)}`, LINK_CALLS_PER_MINUTE[what]);
