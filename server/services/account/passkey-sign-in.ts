import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import { and, eq, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { type PasskeyPurpose, passkeys } from "#db/schema/account";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import type { InProcessStore } from "#server/limits/in-process";
import { countedAs, type Visitor } from "#server/visitor";
import { CODE_TRIES } from "./codes";
import { holdUser } from "./factors";
import { letIn, WAYS } from "./let-in";
import { keepChallenge, relyingParty, takeChallenge } from "./passkey-challenge";
import { readAuthentication } from "./passkey-wire";
import { finishStep, readSecondStep, type SecondStep } from "./second-step";

type DoorDeps = Deps & { url: string; signInTries: InProcessStore };

/** The library is large, and few calls need it. */
const webauthn = () => import("@simplewebauthn/server");

/**
 * What a browser is to sign: by any passkey that it knows for us, or, for the second step of that token, by one of that
 * person's. AppError `conflict` where there are no passkeys for our address, `rate_limited` after many calls.
 */
export async function startPasskeySignIn(
  deps: DoorDeps,
  input: { step: string | null; visitor: Visitor },
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const party = relyingParty(deps.url);
  if (!party) throw new AppError("conflict", "There are no passkeys for this address.");
  if (!deps.signInTries.take(`passkey:${countedAs(input.visitor)}`, CODE_TRIES.addressPerMinute).allowed)
    throw new AppError("rate_limited", "Too many tries. Wait a minute and try again.");
  const owed = input.step === null ? null : await readSecondStep(deps, input.step);
  const own = owed
    ? await deps.db
        .select({ id: passkeys.credentialId, transports: passkeys.transports })
        .from(passkeys)
        .where(eq(passkeys.userId, owed.user.id))
    : [];
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    userVerification: "required",
    allowCredentials: own,
  });
  await keepChallenge(deps, {
    challenge: options.challenge,
    purpose: owed ? "second_step" : "sign_in",
    userId: owed?.user.id ?? null,
  });
  return options;
}

/**
 * Signs somebody in by what their passkey signed, `response` as JSON: by itself, since it verified the person, or as the
 * second step of that token. Whatever is wrong with it, the answer is the same.
 */
export async function signInByPasskey(
  deps: DoorDeps,
  input: { response: string; step: string | null; visitor: Visitor },
): Promise<SecondStep> {
  const { step, visitor } = input;
  if (!deps.signInTries.take(`passkey:${countedAs(visitor)}`, CODE_TRIES.addressPerMinute).allowed)
    return { kind: "too_many_tries" };
  const signed = await verifySigned(deps, input.response);
  if (!signed) return { kind: "refused" };
  const { user, passkeyId, counter, asked } = signed;
  return deps.db.transaction(async (tx) => {
    await holdUser(tx, user.id);
    if (!(await countUse(tx, passkeyId, counter))) {
      deps.log.warn("passkey.counter_went_back", { passkeyId });
      return { kind: "refused" };
    }
    if (asked === "sign_in") return letIn({ ...deps, db: tx }, { user, visitor, by: WAYS.passkey });
    if (step === null) return { kind: "over" };
    return finishStep({ ...deps, db: tx }, { token: step, user, visitor, by: "a passkey" });
  });
}

async function verifySigned(deps: DoorDeps, text: string) {
  const party = relyingParty(deps.url);
  const response = readAuthentication(text);
  if (!party || !response) return null;
  const [found] = await deps.db
    .select({
      passkey: passkeys,
      user: { id: users.id, email: users.email, name: users.name },
    })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, response.id));
  if (!found) return null;
  const { passkey, user } = found;
  let asked: PasskeyPurpose | null = null;
  const { verifyAuthenticationResponse } = await webauthn();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: async (challenge) => {
      const taken = await takeChallenge(deps, challenge, ["sign_in", "second_step"]);
      asked = taken && (taken.userId === null || taken.userId === user.id) ? taken.purpose : null;
      return asked !== null;
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialId,
      publicKey: Uint8Array.from(passkey.publicKey),
      // Judged in the statement that keeps it, where two at one moment come one after the other.
      counter: 0,
    },
    // Whatever it dislikes it throws.
  }).catch(() => ({ verified: false, authenticationInfo: undefined }));
  if (!verified || !authenticationInfo || asked === null) return null;
  return {
    user,
    passkeyId: passkey.id,
    counter: authenticationInfo.newCounter,
    asked: asked as PasskeyPurpose,
  };
}

/** Keeps the count of an authenticator. False where it went back, which only a copy of it does. */
async function countUse(tx: Db, id: string, counter: number): Promise<boolean> {
  const counted = await tx
    .update(passkeys)
    .set({ counter, lastUsedAt: sql`now()` })
    .where(
      and(
        eq(passkeys.id, id),
        // An authenticator that does not count says 0 for ever (WebAuthn level 3, section 7.2).
        counter === 0 ? eq(passkeys.counter, 0) : lt(passkeys.counter, counter),
      ),
    )
    .returning({ id: passkeys.id });
  return counted.length > 0;
}
