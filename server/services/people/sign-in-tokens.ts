import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { signInTokens, type TokenPurpose } from "#db/schema/account";
import type { Deps, Home } from "#server/deps";
import { newId } from "#server/platform/ids";
import { createOneTimeToken, hashToken } from "#server/platform/secrets/one-time-token";

/** The purpose of a token and its user; null for the first user, who does not exist yet. */
export type TokenUse = { purpose: TokenPurpose; userId: string | null };

/**
 * Creates a token for one purpose and one use. It is returned only here; the database holds its hash.
 * `isMailed`: the token is sent only to the user's mailbox.
 */
export async function createSignInToken(
  deps: Pick<Deps, "db">,
  use: TokenUse & { minutes: number; token?: string; isMailed?: boolean },
): Promise<string> {
  const { purpose, userId, minutes, token = createOneTimeToken(), isMailed = false } = use;
  await deps.db.insert(signInTokens).values({
    id: newId(),
    purpose,
    userId,
    isMailed,
    secretHash: hashToken(token),
    expiresAt: sql`now() + ${minutes} * interval '1 minute'`,
  });
  return token;
}

/** The page after a sign-in that did not start from a specific page. */
const HOME = "/console";

/** The page of each kind of link. */
const PAGES = { sign_in_link: "/login/link", password_reset: "/login/reset" } as const;

/**
 * The link with a token, built only from the public URL. The token is in the fragment, which browsers do not
 * send to servers, so it reaches no log, proxy or other site. `landing` is the local path to open afterwards.
 */
export function signInLinkUrl(
  { url }: Home,
  purpose: keyof typeof PAGES,
  token: string,
  landing: string = HOME,
): string {
  const link = new URL(PAGES[purpose], url);
  if (landing !== HOME) link.searchParams.set("callbackUrl", landing);
  link.hash = token;
  return link.href;
}

/**
 * Marks a token as used. Of several concurrent calls one gets the user and whether the token was emailed.
 * Null for a token that is used, expired, for another purpose, or unknown.
 */
export async function consumeSignInToken(
  tx: Db,
  purpose: TokenPurpose,
  token: string,
): Promise<{ userId: string | null; isMailed: boolean } | null> {
  const [consumed] = await tx
    .update(signInTokens)
    .set({ spentAt: sql`now()` })
    .where(isLive(purpose, token))
    .returning({ userId: signInTokens.userId, isMailed: signInTokens.isMailed });
  return consumed ?? null;
}

/** The user of a valid token, or null. Does not use the token. */
export async function getSignInToken(
  deps: Pick<Deps, "db">,
  purpose: TokenPurpose,
  token: string,
): Promise<{ userId: string | null } | null> {
  const [found] = await deps.db
    .select({ userId: signInTokens.userId })
    .from(signInTokens)
    .where(isLive(purpose, token));
  return found ?? null;
}

/** Revokes all of a user's links. After a password change no earlier link may sign the user in. */
export async function revokeSignInTokens(tx: Db, userId: string): Promise<void> {
  await tx
    .update(signInTokens)
    .set({ spentAt: sql`now()` })
    .where(and(eq(signInTokens.userId, userId), isNull(signInTokens.spentAt)));
}

const isLive = (purpose: TokenPurpose, token: string) =>
  and(
    eq(signInTokens.secretHash, hashToken(token)),
    eq(signInTokens.purpose, purpose),
    isNull(signInTokens.spentAt),
    gt(signInTokens.expiresAt, sql`now()`),
  );
