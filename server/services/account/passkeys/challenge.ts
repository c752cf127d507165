import { and, eq, gt, inArray, sql } from "drizzle-orm";
import { type PasskeyPurpose, passkeyChallenges } from "#db/schema/account";
import type { Deps } from "#server/deps";

/** Loaded on demand: the library is large and few requests need it. */
export const loadWebauthn = () => import("@simplewebauthn/server");

const lifetimeMinutes = 5;

/** Stores a challenge that an authenticator has to sign. It expires after five minutes. */
export async function storeChallenge(
  deps: Deps,
  input: { challenge: string; purpose: PasskeyPurpose; userId: string | null },
): Promise<void> {
  await deps.db
    .insert(passkeyChallenges)
    .values({ ...input, expiresAt: sql`now() + ${lifetimeMinutes} * interval '1 minute'` });
}

/**
 * Deletes a challenge, so a response to it is accepted once. Returns its purpose and user, or null if it is unknown or
 * has expired.
 */
export async function consumeChallenge(
  deps: Deps,
  challenge: string,
  purposes: PasskeyPurpose[],
): Promise<{ purpose: PasskeyPurpose; userId: string | null } | null> {
  const [deleted] = await deps.db
    .delete(passkeyChallenges)
    .where(
      and(
        eq(passkeyChallenges.challenge, challenge.replaceAll("\0", "").slice(0, 200)),
        inArray(passkeyChallenges.purpose, purposes),
        gt(passkeyChallenges.expiresAt, sql`now()`),
      ),
    )
    .returning({ purpose: passkeyChallenges.purpose, userId: passkeyChallenges.userId });
  return deleted ?? null;
}

/**
 * The WebAuthn relying party: the host of the public URL, and its exact origin. Null where browsers do not support
 * passkeys: on IP addresses, and on hosts without TLS other than localhost.
 */
export function relyingParty(url: string): { id: string; origin: string } | null {
  const { protocol, hostname, origin } = new URL(url);
  const isIpAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith("[");
  const isSecure = protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost");
  return isIpAddress || !isSecure ? null : { id: hostname, origin };
}
