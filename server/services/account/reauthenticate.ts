import { and, eq, gt, isNotNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { accounts } from "#db/schema/account";
import { sessions, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { type LimitedDeps, requireAttempt, type SignInLimiter } from "../people/sign-in-counters";
import { type Owner, type User, verifyPassword } from "../people/users";
import { verifyCode } from "./factors/codes";
import { type Factors, getFactors, hasTwoFactor } from "./factors/factors";
import { isRecoveryCode } from "./factors/recovery-codes";

const attemptsPerMinute = 6;
const freshMinutes = 10;

/** How a user can confirm their identity. */
export type ProofKind = "password" | "password_or_code" | "code" | "fresh_session";

/**
 * The proof that is required of a user. A user with neither a password nor a code, for example with passkeys
 * only and all recovery codes used, must have signed in recently.
 */
export const requiredProof = (person: { hasPassword: boolean; factors: Factors }): ProofKind => {
  const { hasTotp, recoveryCodesLeft } = person.factors;
  const hasCode = hasTotp || (hasTwoFactor(person.factors) && recoveryCodesLeft > 0);
  if (person.hasPassword) return hasCode ? "password_or_code" : "password";
  return hasCode ? "code" : "fresh_session";
};

/**
 * Requires a signed-in user to confirm their identity before a security setting changes, because an
 * unattended session is not enough. The user enters the password or a code, or must have signed in recently.
 * AppError `invalid` for a wrong password or code, `rate_limited` after several attempts.
 */
export async function reauthenticate(deps: LimitedDeps, owner: Owner, proof: string): Promise<void> {
  const { user, visitor } = owner;
  await countProof(deps, user);
  const kind = requiredProof({
    hasPassword: await hasPassword(deps, user.id),
    factors: await getFactors(deps.db, user.id),
  });
  if (kind === "fresh_session") return requireFresh(deps, owner);
  const looksLikeCode = /^[\s-]*(\d[\s-]*){6}$/.test(proof) || isRecoveryCode(proof);
  if (kind !== "password" && looksLikeCode) {
    const result = await deps.db.transaction((tx) =>
      verifyCode({ ...deps, db: tx }, { user, code: proof, visitor }),
    );
    if (result === "totp" || result === "recovery_code") return;
    if (result === "too_many_attempts")
      throw new AppError("rate_limited", "Too many wrong codes. Wait an hour, or use a recovery code.");
  }
  if (kind !== "code" && (await verifyPassword(deps, { email: user.email, password: proof }))) return;
  throw new AppError("invalid", MISMATCH_MESSAGES[kind]);
}

/** Counts one attempt to confirm an identity. AppError `rate_limited` after several. */
export const countProof = (deps: { signInLimiter: SignInLimiter }, { id }: User): Promise<void> =>
  requireAttempt(deps, `prove:${id}`, attemptsPerMinute);

const MISMATCH_MESSAGES = {
  password: "Incorrect password.",
  code: "The code is incorrect or was already used. Enter the next code from the app, or an unused recovery code.",
  password_or_code:
    "Incorrect password or code. Enter your password, a new code, or an unused recovery code.",
} as const;

/**
 * Call it in the transaction that removed a sign-in method, while the user's row is locked. AppError
 * `conflict` if no method is left that does not depend on email.
 */
export async function requireSignInMethod(tx: Db, userId: string): Promise<void> {
  const { passkeys } = await getFactors(tx, userId);
  if (passkeys > 0 || (await hasPassword({ db: tx }, userId))) return;
  if ((await tx.$count(accounts, eq(accounts.userId, userId))) > 0) return;
  throw new AppError("conflict", "This is your only sign-in method. Set a password or add a passkey first.");
}

/** Whether the user has a password. */
export async function hasPassword(deps: Pick<Deps, "db">, userId: string): Promise<boolean> {
  return (await deps.db.$count(users, and(eq(users.id, userId), isNotNull(users.passwordHash)))) > 0;
}

async function requireFresh({ db }: Deps, { sessionId }: Owner): Promise<void> {
  const isRecent = gt(sessions.createdAt, sql`now() - ${freshMinutes} * interval '1 minute'`);
  if ((await db.$count(sessions, and(eq(sessions.id, sessionId), isRecent))) === 0)
    throw new AppError(
      "invalid",
      `Sign out and sign in again. Without a password or a code, this is only possible for ${freshMinutes} minutes.`,
    );
}
