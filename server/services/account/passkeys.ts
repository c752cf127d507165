import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import { and, asc, eq } from "drizzle-orm";
import { parse as uuidBytes } from "uuid";
import { isUniqueViolation } from "#db/faults";
import { passkeys } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { isId, newId } from "#server/ids";

import { recordAccountEvent, sayDevice } from "./events";
import { addedFactor, holdOwner, holdUser, removedFactor } from "./factors";
import { keepChallenge, relyingParty, takeChallenge } from "./passkey-challenge";
import { readRegistration } from "./passkey-wire";
import type { Owner } from "./prove";
import { requireWayIn } from "./way-in";

const perPersonMax = 20;
/** EdDSA, ES256 and RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257];

/** The library is large, and few calls need it. */
const webauthn = () => import("@simplewebauthn/server");

export type Passkey = {
  id: string;
  name: string;
  isSynced: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** A person's passkeys, oldest first. */
export async function listPasskeys(deps: Deps, userId: string): Promise<Passkey[]> {
  return deps.db
    .select({
      id: passkeys.id,
      name: passkeys.name,
      isSynced: passkeys.isSynced,
      createdAt: passkeys.createdAt,
      lastUsedAt: passkeys.lastUsedAt,
    })
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .orderBy(asc(passkeys.id));
}

/**
 * What the owner's browser is to make a passkey by. It must be discoverable and verify the person, so that it can be a
 * sign-in by itself. AppError `conflict` where browsers make none for our address, or the owner has many.
 */
export async function startPasskey(
  deps: Deps & { url: string },
  { user }: Owner,
): Promise<Omit<PublicKeyCredentialCreationOptionsJSON, "extensions">> {
  const party = relyingParty(deps.url);
  if (!party)
    throw new AppError("conflict", "Browsers make passkeys only for a named host with TLS, or localhost.");
  const own = await deps.db
    .select({ id: passkeys.credentialId })
    .from(passkeys)
    .where(eq(passkeys.userId, user.id));
  if (own.length >= perPersonMax)
    throw new AppError("conflict", `You have ${perPersonMax} passkeys. Remove one first.`);
  const { generateRegistrationOptions } = await webauthn();
  const { extensions: _, ...options } = await generateRegistrationOptions({
    rpName: "Posthorn",
    rpID: party.id,
    userName: user.email,
    userDisplayName: user.name ?? user.email,
    userID: Uint8Array.from(uuidBytes(user.id)),
    attestationType: "none",
    excludeCredentials: own,
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  await keepChallenge(deps, { challenge: options.challenge, purpose: "register", userId: user.id });
  return options;
}

/**
 * Keeps the passkey that the browser made. `response` is its answer as JSON. Answers the recovery codes that come with a
 * person's first factor, else null. AppError `invalid` for what is no answer to our challenge, `unauthorized` where the
 * session ended meanwhile.
 */
export async function addPasskey(
  deps: Deps & { url: string },
  owner: Owner,
  input: { response: string; name: string },
): Promise<{ id: string; recoveryCodes: string[] | null }> {
  const { user, sessionId, visitor } = owner;
  const made = await verifyMade(deps, user.id, input.response);
  if (!made) throw new AppError("invalid", "The passkey could not be checked. Try again.");
  const id = newId();
  const name = input.name.trim() || sayDevice(visitor.userAgent);
  try {
    return await deps.db.transaction(async (tx) => {
      await holdOwner(tx, { userId: user.id, sessionId });
      await tx.insert(passkeys).values({ id, userId: user.id, name, ...made });
      await recordAccountEvent(tx, { userId: user.id, kind: "passkey_added", subject: name, visitor });
      return { id, recoveryCodes: await addedFactor(tx, { userId: user.id, sessionId }) };
    });
  } catch (error) {
    if (isUniqueViolation(error, "passkeys_credential_key"))
      throw new AppError("conflict", "This passkey is known already.");
    throw error;
  }
}

async function verifyMade(deps: Deps & { url: string }, userId: string, text: string) {
  const party = relyingParty(deps.url);
  const response = readRegistration(text);
  if (!party || !response) return null;
  const { verifyRegistrationResponse } = await webauthn();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: async (challenge) =>
      (await takeChallenge(deps, challenge, ["register"]))?.userId === userId,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
    // Whatever it dislikes it throws.
  }).catch(() => ({ verified: false as const, registrationInfo: undefined }));
  if (!verified || !registrationInfo) return null;
  const { credential, credentialDeviceType } = registrationInfo;
  return {
    credentialId: credential.id,
    publicKey: credential.publicKey,
    counter: credential.counter,
    transports: credential.transports ?? [],
    isSynced: credentialDeviceType === "multiDevice",
  };
}

/** Calls a passkey something else. AppError `not_found` for another's, as for none. */
export async function renamePasskey(
  deps: Deps,
  { user }: Owner,
  input: { id: string; name: string },
): Promise<void> {
  const renamed = isId(input.id)
    ? await deps.db
        .update(passkeys)
        .set({ name: input.name })
        .where(isOwn(user.id, input.id))
        .returning({ id: passkeys.id })
    : [];
  if (renamed.length === 0) throw notFound("Passkey");
}

/**
 * Takes a passkey away: it opens nothing from now on. AppError `not_found` for another's, as for none; `conflict` where it is
 * the last way in that needs no mail.
 */
export async function removePasskey(deps: Deps, { user, visitor }: Owner, id: string): Promise<void> {
  if (!isId(id)) throw notFound("Passkey");
  await deps.db.transaction(async (tx) => {
    await holdUser(tx, user.id);
    const [removed] = await tx.delete(passkeys).where(isOwn(user.id, id)).returning({ name: passkeys.name });
    if (!removed) throw notFound("Passkey");
    await requireWayIn(tx, user.id);
    const subject = removed.name;
    await recordAccountEvent(tx, { userId: user.id, kind: "passkey_removed", subject, visitor });
    await removedFactor(tx, user.id);
  });
}

const isOwn = (userId: string, id: string) => and(eq(passkeys.id, id), eq(passkeys.userId, userId));
