import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import { and, eq, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { passkeys } from "#db/schema/account";
import { users } from "#db/schema/teams";
import { AppError } from "#server/platform/errors";
import { signInBucketOf, type Visitor } from "#server/platform/http/visitor";
import { lockUser } from "../../people/lock";
import { type LimitedDeps, requireAttempt } from "../../people/sign-in-counters";
import { USER_COLUMNS } from "../../people/users";
import { CODE_ATTEMPTS_MAX } from "../factors/codes";
import {
  completeTwoFactor,
  findTwoFactorChallenge,
  type TwoFactorResult,
} from "../factors/two-factor-challenge";
import { completeSignIn, SIGN_IN_METHOD_NAMES } from "../sign-in/complete-sign-in";
import {
  consumeChallenge,
  createSignInChallenge,
  isSignInChallenge,
  loadWebauthn,
  markSignInChallengeUsed,
  relyingParty,
  storeChallenge,
} from "./challenge";
import { parseAuthentication } from "./wire";

type PasskeyDeps = LimitedDeps & { url: string };

/** Requests for options by sign-in pages per sliding minute, from one IP address or known browser. */
export const AUTOFILL_CALLS_PER_MINUTE = 60;

/**
 * The WebAuthn options for a sign-in. Without `step` the browser may use any passkey for this installation,
 * and nothing is stored. With the token of a 2FA challenge it must use one of that user's passkeys. AppError
 * `conflict` if the public URL does not support passkeys, `rate_limited` after too many requests.
 */
export async function startPasskeySignIn(
  deps: PasskeyDeps,
  { step, visitor }: { step: string | null; visitor: Visitor },
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const party = requireRelyingParty(deps);
  const open = step === null ? null : await findTwoFactorChallenge(deps, step);
  await requireAttempt(deps, ...attemptLimit(visitor, open?.user.email ?? null));
  if (!open) return signInOptions(deps, party.id);
  const userId = open.user.id;
  const own = await deps.db
    .select({ id: passkeys.credentialId, transports: passkeys.transports })
    .from(passkeys)
    .where(eq(passkeys.userId, userId));
  const { generateAuthenticationOptions } = await loadWebauthn();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    userVerification: "required",
    allowCredentials: own,
  });
  await storeChallenge(deps, { challenge: options.challenge, purpose: "second_step", userId });
  return options;
}

/**
 * The WebAuthn options with which the sign-in page offers passkeys in the autofill list of the email field.
 * Pages request them on their own, so they have their own limit: the one of the button stays. Stores nothing.
 * Throws the errors of `startPasskeySignIn`.
 */
export async function startPasskeyAutofill(
  deps: PasskeyDeps,
  visitor: Visitor,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const party = requireRelyingParty(deps);
  const bucket = signInBucketOf(visitor, visitor.device?.email ?? null);
  await requireAttempt(deps, `passkey-autofill:${bucket}`, AUTOFILL_CALLS_PER_MINUTE);
  return signInOptions(deps, party.id);
}

function requireRelyingParty({ url }: PasskeyDeps) {
  const party = relyingParty(url);
  if (party) return party;
  throw new AppError(
    "conflict",
    "Passkeys are not available at this URL. They require a host name with TLS, or localhost.",
  );
}

async function signInOptions(deps: PasskeyDeps, rpID: string) {
  const { generateAuthenticationOptions } = await loadWebauthn();
  const challenge = createSignInChallenge(deps);
  return generateAuthenticationOptions({
    rpID,
    challenge,
    userVerification: "required",
    allowCredentials: [],
  });
}

/**
 * Signs a user in with a passkey. `response` is the browser's response as JSON. The passkey has verified the
 * user, so it is sufficient by itself; with the token of a 2FA challenge it completes 2FA. Every
 * invalid response has the same result.
 */
export async function signInByPasskey(
  deps: PasskeyDeps,
  input: { response: string; step: string | null; visitor: Visitor },
): Promise<TwoFactorResult> {
  const { step, visitor } = input;
  const response = parseAuthentication(input.response);
  const known = response && (await findPasskey(deps, response.id));
  if (!(await deps.signInLimiter.take(...attemptLimit(visitor, known?.user.email ?? null))))
    return { kind: "too_many_attempts" };
  const signed = known && (await verifyAuthentication(deps, response, known));
  if (!signed) return { kind: "rejected" };
  const { user, passkeyId, counter, signInChallenge } = signed;
  return deps.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    if (signInChallenge !== null && !(await markSignInChallengeUsed({ db: tx }, signInChallenge)))
      return { kind: "rejected" };
    if (!(await recordPasskeyUse(tx, passkeyId, counter))) {
      deps.log.warn("passkey.counter_went_back", { passkeyId });
      return { kind: "rejected" };
    }
    if (signInChallenge !== null)
      return completeSignIn({ ...deps, db: tx }, { user, visitor, by: SIGN_IN_METHOD_NAMES.passkey });
    if (step === null) return { kind: "expired" };
    return completeTwoFactor({ ...deps, db: tx }, { token: step, user, visitor, by: "a passkey" });
  });
}

/** The counter of an attempt and its limit. */
const attemptLimit = (visitor: Visitor, email: string | null) =>
  [`passkey:${signInBucketOf(visitor, email)}`, CODE_ATTEMPTS_MAX.addressPerMinute] as const;

async function findPasskey({ db }: PasskeyDeps, credentialId: string) {
  const [found] = await db
    .select({ passkey: passkeys, user: USER_COLUMNS })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, credentialId));
  return found ?? null;
}

async function verifyAuthentication(
  deps: PasskeyDeps,
  response: NonNullable<ReturnType<typeof parseAuthentication>>,
  { passkey, user }: NonNullable<Awaited<ReturnType<typeof findPasskey>>>,
) {
  const party = relyingParty(deps.url);
  if (!party) return null;
  let signInChallenge: string | null = null;
  const { verifyAuthenticationResponse } = await loadWebauthn();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: async (challenge) => {
      if (!isSignInChallenge(deps, challenge))
        return (await consumeChallenge(deps, challenge, "second_step")) === user.id;
      signInChallenge = challenge;
      return true;
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialId,
      publicKey: Uint8Array.from(passkey.publicKey),
      // `recordPasskeyUse` checks the counter in the statement that stores it, which serializes concurrent
      // sign-ins.
      counter: 0,
    },
    // The library throws on every verification failure.
  }).catch(() => ({ verified: false, authenticationInfo: undefined }));
  if (!verified || !authenticationInfo) return null;
  return {
    user,
    passkeyId: passkey.id,
    counter: authenticationInfo.newCounter,
    /** The challenge, if it was one for a sign-in; null if it was for 2FA. */
    signInChallenge: signInChallenge as string | null,
  };
}

/**
 * Stores the authenticator's signature counter. False if it did not increase, which means the passkey was
 * cloned.
 */
async function recordPasskeyUse(tx: Db, id: string, counter: number): Promise<boolean> {
  const updated = await tx
    .update(passkeys)
    .set({ counter, lastUsedAt: sql`now()` })
    .where(
      and(
        eq(passkeys.id, id),
        // An authenticator without a counter always returns 0 (WebAuthn level 3, section 7.2).
        counter === 0 ? eq(passkeys.counter, 0) : lt(passkeys.counter, counter),
      ),
    )
    .returning({ id: passkeys.id });
  return updated.length > 0;
}
