import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { type SignInMethod, twoFactorChallenges } from "#db/schema/account";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { signInBucketOf, type Visitor } from "#server/platform/http/visitor";
import { createOneTimeToken, hashToken } from "#server/platform/secrets/one-time-token";
import type { LimitedDeps } from "../../people/sign-in-counters";
import { USER_COLUMNS, type User } from "../../people/users";
import { completeSignIn, SIGN_IN_METHOD_NAMES, type SignedInSession } from "../sign-in/complete-sign-in";
import { CODE_ATTEMPTS_MAX, type CodeKind, verifyCode } from "./codes";
import { type Factors, getFactors } from "./factors";

const lifetimeMinutes = 5;

export type TwoFactorResult =
  | SignedInSession
  /** The code or passkey was wrong, or was used before. */
  | { kind: "rejected" }
  | { kind: "too_many_attempts" }
  /** The challenge has expired, was used, has no attempts left, or does not exist. */
  | { kind: "expired" };

/**
 * Records that the first sign-in step succeeded. Returns a token with which the browser completes 2FA.
 * It expires after five minutes.
 */
export async function createTwoFactorChallenge(
  tx: Db,
  input: { userId: string; method: SignInMethod },
): Promise<string> {
  const token = createOneTimeToken();
  await tx.insert(twoFactorChallenges).values({
    ...input,
    tokenHash: hashToken(token),
    expiresAt: sql`now() + ${lifetimeMinutes} * interval '1 minute'`,
  });
  return token;
}

/** The user of an open 2FA challenge and their factors, or null. Does not count as an attempt. */
export async function findTwoFactorChallenge(
  deps: Deps,
  token: string,
): Promise<{ user: User; factors: Factors } | null> {
  const [found] = await deps.db
    .select({ user: USER_COLUMNS })
    .from(twoFactorChallenges)
    .innerJoin(users, eq(users.id, twoFactorChallenges.userId))
    .where(isOpen(token));
  return found ? { user: found.user, factors: await getFactors(deps.db, found.user.id) } : null;
}

/** Verifies a TOTP or recovery code for a 2FA challenge and opens the session. */
export async function completeTwoFactorByCode(
  deps: LimitedDeps,
  input: { token: string; code: string; visitor: Visitor },
): Promise<TwoFactorResult> {
  const { token, code, visitor } = input;
  const challenge = await findTwoFactorChallenge(deps, token);
  const counted = signInBucketOf(visitor, challenge?.user.email ?? null);
  if (!(await deps.signInLimiter.take(`second:${counted}`, CODE_ATTEMPTS_MAX.addressPerMinute)))
    return { kind: "too_many_attempts" };
  const user = await countAttempt(deps, token);
  if (!user) return { kind: "expired" };
  return deps.db.transaction(async (tx) => {
    const result = await verifyCode({ ...deps, db: tx }, { user, code, visitor });
    if (result === "rejected" || result === "too_many_attempts") return { kind: result };
    return completeTwoFactor({ ...deps, db: tx }, { token, user, visitor, by: CODE_NAMES[result] });
  });
}

const CODE_NAMES: Record<CodeKind, string> = {
  totp: "an authenticator app",
  recovery_code: "a recovery code",
};

/**
 * Closes the challenge of a user who has passed 2FA, and opens the session. `deps.db` must be a
 * transaction.
 */
export async function completeTwoFactor(
  deps: Deps,
  input: { token: string; user: User; visitor: Visitor; by: string },
): Promise<SignedInSession | { kind: "expired" }> {
  const { token, user, visitor } = input;
  const [step] = await deps.db
    .delete(twoFactorChallenges)
    .where(
      and(
        eq(twoFactorChallenges.tokenHash, hashToken(token)),
        eq(twoFactorChallenges.userId, user.id),
        gt(twoFactorChallenges.expiresAt, sql`now()`),
      ),
    )
    .returning({ method: twoFactorChallenges.method });
  if (!step) return { kind: "expired" };
  return completeSignIn(deps, { user, visitor, by: `${SIGN_IN_METHOD_NAMES[step.method]} and ${input.by}` });
}

const isOpen = (token: string) =>
  and(
    eq(twoFactorChallenges.tokenHash, hashToken(token)),
    gt(twoFactorChallenges.expiresAt, sql`now()`),
    lt(twoFactorChallenges.attempts, CODE_ATTEMPTS_MAX.step),
  );

/**
 * Counts the attempt before the code is verified and in its own statement. Concurrent attempts are therefore
 * all counted.
 */
async function countAttempt(deps: Deps, token: string): Promise<User | null> {
  const [user] = await deps.db
    .update(twoFactorChallenges)
    .set({ attempts: sql`${twoFactorChallenges.attempts} + 1` })
    .from(users)
    .where(and(isOpen(token), eq(users.id, twoFactorChallenges.userId)))
    .returning(USER_COLUMNS);
  return user ?? null;
}
