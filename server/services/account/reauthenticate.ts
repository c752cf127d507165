import { and, eq, gt, sql } from "drizzle-orm";
import { sessions, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { Visitor } from "#server/platform/http/visitor";
import type { SignInLimiter } from "../people/sign-in-counters";
import { type User, verifyPassword } from "../people/users";
import { verifyCode } from "./factors/codes";
import { type Factors, hasTwoFactor, readFactors } from "./factors/factors";
import { isRecoveryCode } from "./factors/recovery-codes";

const attemptsPerMinute = 6;
const freshMinutes = 10;

/** A user who changes their own account, and the session and visitor of the request. */
export type Owner = { user: User; sessionId: string; visitor: Visitor };

/** How a user can confirm their identity. */
export type ProofKind = "password" | "password_or_code" | "code" | "fresh_session";

/**
 * The proof that is required of a user. A user with neither a password nor a code, for example with passkeys only and all
 * recovery codes used, must have signed in recently.
 */
export const requiredProof = (person: { hasPassword: boolean; factors: Factors }): ProofKind => {
  const { hasTotp, recoveryCodesLeft } = person.factors;
  const hasCode = hasTotp || (hasTwoFactor(person.factors) && recoveryCodesLeft > 0);
  if (person.hasPassword) return hasCode ? "password_or_code" : "password";
  return hasCode ? "code" : "fresh_session";
};

/**
 * Requires a signed-in user to confirm their identity before a security setting changes, because an unattended session is not
 * enough. The user enters the password or a code, or must have signed in recently. AppError `invalid` for a wrong
 * password or code, `rate_limited` after several attempts.
 */
export async function reauthenticate(
  deps: Deps & { signInLimiter: SignInLimiter },
  owner: Owner,
  proof: string,
): Promise<void> {
  const { user, visitor } = owner;
  if (!(await deps.signInLimiter.take(`prove:${user.id}`, attemptsPerMinute)))
    throw new AppError("rate_limited", "Too many attempts. Wait a minute, then try again.");
  const kind = requiredProof({
    hasPassword: await hasPassword(deps, user.id),
    factors: await readFactors(deps.db, user.id),
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

const MISMATCH_MESSAGES = {
  password: "Incorrect password.",
  code: "The code is incorrect or was already used. Enter the next code from the app, or an unused recovery code.",
  password_or_code:
    "Incorrect password or code. Enter your password, a new code, or an unused recovery code.",
} as const;

/** Whether the user has a password. */
export async function hasPassword(deps: Pick<Deps, "db">, userId: string): Promise<boolean> {
  const [user] = await deps.db
    .select({ has: sql<boolean>`${users.passwordHash} is not null` })
    .from(users)
    .where(eq(users.id, userId));
  return user?.has ?? false;
}

async function requireFresh(deps: Deps, { sessionId }: Owner): Promise<void> {
  const [fresh] = await deps.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(
        eq(sessions.id, sessionId),
        gt(sessions.createdAt, sql`now() - ${freshMinutes} * interval '1 minute'`),
      ),
    );
  if (!fresh)
    throw new AppError(
      "invalid",
      `Sign out and sign in again. Without a password or a code, this is only possible for ${freshMinutes} minutes.`,
    );
}
