import { and, eq, gt, sql } from "drizzle-orm";
import { type PasskeyPurpose, passkeyChallenges } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import type { LinkPath } from "#server/platform/secrets/signed-links";

/** Loaded on demand: the library is large and few requests need it. */
export const loadWebauthn = () => import("@simplewebauthn/server");

const lifetimeMinutes = 5;
/** Separates the challenges of sign-ins from other signed tokens. */
const SIGN_IN_CHALLENGE: LinkPath = "/api/auth/passkey/{token}";

/** Stores a challenge of a known user that an authenticator has to sign. It expires after five minutes. */
export async function storeChallenge(
  deps: Deps,
  input: { challenge: string; purpose: "register" | "second_step"; userId: string },
): Promise<void> {
  await deps.db
    .insert(passkeyChallenges)
    .values({ ...input, expiresAt: sql`now() + ${lifetimeMinutes} * interval '1 minute'` });
}

/**
 * Creates a challenge for a visitor who is not known yet. It is signed instead of stored, so visitors cannot
 * fill the database. It expires after five minutes.
 */
export function createSignInChallenge(deps: Pick<Deps, "links" | "clock">): Uint8Array<ArrayBuffer> {
  const expiresAt = new Date(deps.clock().getTime() + lifetimeMinutes * 60_000);
  const link = deps.links.make(SIGN_IN_CHALLENGE, [newId()], expiresAt);
  return Uint8Array.from(Buffer.from(link.slice(link.lastIndexOf("/") + 1), "base64url"));
}

/** Whether `createSignInChallenge` created this challenge and it has not expired. */
export const isSignInChallenge = (deps: Pick<Deps, "links" | "clock">, challenge: string): boolean =>
  deps.links.open(SIGN_IN_CHALLENGE, challenge, deps.clock()) !== null;

/**
 * Records that a valid response to the sign-in challenge was accepted. False if one was accepted before.
 * `deps.db` must be the transaction of the sign-in.
 */
export async function markSignInChallengeUsed(deps: Pick<Deps, "db">, challenge: string): Promise<boolean> {
  const inserted = await deps.db
    .insert(passkeyChallenges)
    // Twice the lifetime, because the clock of the database may differ from the one that signed the expiry.
    .values({
      challenge,
      purpose: "used",
      expiresAt: sql`now() + ${2 * lifetimeMinutes} * interval '1 minute'`,
    })
    .onConflictDoNothing()
    .returning({ challenge: passkeyChallenges.challenge });
  return inserted.length > 0;
}

/**
 * Deletes a stored challenge, so a response to it is accepted once. Returns its user, or null if it is
 * unknown or has expired.
 */
export async function consumeChallenge(
  deps: Deps,
  challenge: string,
  purpose: "register" | "second_step",
): Promise<string | null> {
  const [deleted] = await deps.db
    .delete(passkeyChallenges)
    .where(
      and(
        eq(passkeyChallenges.challenge, challenge.replaceAll("\0", "").slice(0, 200)),
        eq(passkeyChallenges.purpose, purpose satisfies PasskeyPurpose),
        gt(passkeyChallenges.expiresAt, sql`now()`),
      ),
    )
    .returning({ userId: passkeyChallenges.userId });
  return deleted?.userId ?? null;
}

/**
 * The WebAuthn relying party: the host of the public URL, and its exact origin. Null where browsers do not
 * support passkeys: on IP addresses, and on hosts without TLS other than localhost.
 */
export function relyingParty(url: string): { id: string; origin: string } | null {
  const { protocol, hostname, origin } = new URL(url);
  const isIpAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith("[");
  const isSecure = protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost");
  return isIpAddress || !isSecure ? null : { id: hostname, origin };
}
