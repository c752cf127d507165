import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import { and, asc, eq } from "drizzle-orm";
import { parse as uuidBytes } from "uuid";
import { isUniqueViolation } from "#db/faults";
import { passkeys } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId, newId } from "#server/platform/ids";
import type { Passkey } from "#server/shared/wire/people/account";
import { formatDevice, recordAccountEvent } from "../../people/events";
import { lockUser, lockUserOfSession } from "../../people/lock";
import type { Owner } from "../../people/users";
import { afterFactorAdded, afterFactorRemoved } from "../factors/factors";
import { requireSignInMethod } from "../reauthenticate";
import { consumeChallenge, loadWebauthn, relyingParty, storeChallenge } from "./challenge";
import { parseRegistration } from "./wire";

const perPersonMax = 20;
/** COSE ids of EdDSA, ES256 and RS256, which cover all common authenticators. */
const ALGORITHMS = [-8, -7, -257];

/** The user's passkeys, oldest first. */
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
 * The options with which the browser creates a passkey. The passkey must be discoverable and verify the user,
 * so it is sufficient to sign in. AppError `conflict` if the public URL does not support passkeys or the user
 * has the maximum number of passkeys.
 */
export async function startPasskey(
  deps: Deps & { url: string },
  { user }: Owner,
): Promise<Omit<PublicKeyCredentialCreationOptionsJSON, "extensions">> {
  const party = relyingParty(deps.url);
  if (!party) throw new AppError("conflict", "Passkeys require a host name with TLS, or localhost.");
  const own = await deps.db
    .select({ id: passkeys.credentialId })
    .from(passkeys)
    .where(eq(passkeys.userId, user.id));
  requirePasskeyBelowMax(own.length);
  const { generateRegistrationOptions } = await loadWebauthn();
  const { extensions: _, ...options } = await generateRegistrationOptions({
    rpName: "Backstamp",
    rpID: party.id,
    userName: user.email,
    userDisplayName: user.name ?? user.email,
    userID: Uint8Array.from(uuidBytes(user.id)),
    attestationType: "none",
    excludeCredentials: own,
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  await storeChallenge(deps, { challenge: options.challenge, purpose: "register", userId: user.id });
  return options;
}

/**
 * Stores the passkey that the browser created. `response` is the browser's response as JSON. Returns recovery
 * codes if this is the user's first factor, else null. AppError `invalid` for a response that does not match
 * the challenge, `unauthorized` if the session has ended, `conflict` if the user has the maximum number of
 * passkeys.
 */
export async function addPasskey(
  deps: Deps & { url: string },
  owner: Owner,
  input: { response: string; name: string },
): Promise<{ id: string; recoveryCodes: string[] | null }> {
  const { user, sessionId, visitor } = owner;
  const registered = await verifyRegistration(deps, user.id, input.response);
  if (!registered) throw new AppError("invalid", "The passkey could not be verified. Try again.");
  const id = newId();
  const name = input.name.trim() || formatDevice(visitor.userAgent);
  try {
    return await deps.db.transaction(async (tx) => {
      await lockUserOfSession(tx, { userId: user.id, sessionId });
      requirePasskeyBelowMax(await tx.$count(passkeys, eq(passkeys.userId, user.id)));
      await tx.insert(passkeys).values({ id, userId: user.id, name, ...registered });
      await recordAccountEvent(tx, { userId: user.id, kind: "passkey_added", subject: name, visitor });
      return { id, recoveryCodes: await afterFactorAdded(tx, { userId: user.id, sessionId }) };
    });
  } catch (error) {
    if (isUniqueViolation(error, "passkeys_credential_key"))
      throw new AppError("conflict", "This passkey is already registered.");
    throw error;
  }
}

function requirePasskeyBelowMax(owned: number): void {
  if (owned >= perPersonMax)
    throw new AppError(
      "conflict",
      `You have ${perPersonMax} passkeys, which is the maximum. Remove one first.`,
    );
}

async function verifyRegistration(deps: Deps & { url: string }, userId: string, text: string) {
  const party = relyingParty(deps.url);
  const response = parseRegistration(text);
  if (!party || !response) return null;
  const { verifyRegistrationResponse } = await loadWebauthn();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: async (challenge) => (await consumeChallenge(deps, challenge, "register")) === userId,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
    // The library throws on every verification failure.
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

/** Renames a passkey. AppError `not_found` if the user has no such passkey. */
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
 * Removes a passkey. AppError `not_found` if the user has no such passkey; `conflict` if it is the only
 * sign-in method that does not depend on email.
 */
export async function removePasskey(deps: Deps, { user, visitor }: Owner, id: string): Promise<void> {
  if (!isId(id)) throw notFound("Passkey");
  await deps.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    const [removed] = await tx.delete(passkeys).where(isOwn(user.id, id)).returning({ name: passkeys.name });
    if (!removed) throw notFound("Passkey");
    await requireSignInMethod(tx, user.id);
    const subject = removed.name;
    await recordAccountEvent(tx, { userId: user.id, kind: "passkey_removed", subject, visitor });
    await afterFactorRemoved(tx, user.id);
  });
}

const isOwn = (userId: string, id: string) => and(eq(passkeys.id, id), eq(passkeys.userId, userId));
