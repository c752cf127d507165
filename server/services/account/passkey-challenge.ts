import { and, eq, gt, inArray, sql } from "drizzle-orm";
import { type PasskeyPurpose, passkeyChallenges } from "#db/schema/account";
import type { Deps } from "#server/deps";

const lifetimeMinutes = 5;

/** Keeps what an authenticator was asked to sign. */
export async function keepChallenge(
  deps: Deps,
  asked: { challenge: string; purpose: PasskeyPurpose; userId: string | null },
): Promise<void> {
  await deps.db
    .insert(passkeyChallenges)
    .values({ ...asked, expiresAt: sql`now() + ${lifetimeMinutes} * interval '1 minute'` });
}

/** Takes a challenge away, so that an answer to it counts once: what it was for, or null for one that we did not make. */
export async function takeChallenge(
  deps: Deps,
  challenge: string,
  purposes: PasskeyPurpose[],
): Promise<{ purpose: PasskeyPurpose; userId: string | null } | null> {
  const [taken] = await deps.db
    .delete(passkeyChallenges)
    .where(
      and(
        eq(passkeyChallenges.challenge, challenge.replaceAll("\0", "").slice(0, 200)),
        inArray(passkeyChallenges.purpose, purposes),
        gt(passkeyChallenges.expiresAt, sql`now()`),
      ),
    )
    .returning({ purpose: passkeyChallenges.purpose, userId: passkeyChallenges.userId });
  return taken ?? null;
}

/**
 * Where passkeys belong: to the host of the public address, and to pages of exactly that origin. Null where browsers
 * make none, which is on hosts named by number and, but for localhost, without TLS.
 */
export function relyingParty(url: string): { id: string; origin: string } | null {
  const { protocol, hostname, origin } = new URL(url);
  const isNumber = /^[\d.]+$/.test(hostname) || hostname.startsWith("[");
  const isSecure = protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost");
  return isNumber || !isSecure ? null : { id: hostname, origin };
}
