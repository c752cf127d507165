import type { SignInMethod } from "#db/schema/account";
import type { Deps } from "#server/deps";
import type { Visitor } from "#server/platform/http/visitor";
import { lockUser } from "../../people/lock";
import type { User } from "../../people/users";
import { getFactors, hasTwoFactor } from "../factors/factors";
import { createTwoFactorChallenge } from "../factors/two-factor-challenge";
import { completeSignIn, SIGN_IN_METHOD_NAMES, type SignedInSession } from "./complete-sign-in";

/** The result of the first sign-in step: a session, or the token of a 2FA challenge. */
export type Admission = SignedInSession | { kind: "two_factor"; token: string };

/**
 * Completes the first sign-in step, by password, email link or provider account. Every such sign-in ends
 * here, so a user with 2FA never gets a session without it: they get a token that is valid only for the
 * 2FA. `passwordHash` is the hash that the password matched. The sign-in is rejected if the password
 * has changed since.
 */
export async function admit(
  deps: Deps,
  input: { user: User; method: SignInMethod; visitor: Visitor; passwordHash?: string },
): Promise<Admission | { kind: "rejected" }> {
  const { user, method, visitor, passwordHash } = input;
  return deps.db.transaction(async (tx) => {
    const locked = await lockUser(tx, user.id);
    if (passwordHash !== undefined && passwordHash !== locked.passwordHash) return { kind: "rejected" };
    if (hasTwoFactor(await getFactors(tx, user.id)))
      return {
        kind: "two_factor",
        token: await createTwoFactorChallenge(tx, { userId: user.id, method }),
      };
    return completeSignIn({ ...deps, db: tx }, { user, visitor, by: SIGN_IN_METHOD_NAMES[method] });
  });
}
