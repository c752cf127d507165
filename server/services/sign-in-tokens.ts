import { createHash, randomBytes } from "node:crypto";
import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { signInTokens, type TokenPurpose } from "#db/schema/sign-in-tokens";
import type { Deps, Home } from "#server/deps";
import { newId } from "#server/ids";

/** A token of 256 random bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** What a token opens, and for whom: null for the first user, who is nobody yet. */
export type TokenUse = { purpose: TokenPurpose; userId: string | null };

/**
 * Makes a token that opens one door once. It is told here and never again: only its hash is kept. `isMailed` where nobody but
 * the mailbox of their address is told it.
 */
export async function mintSignInToken(
  deps: Pick<Deps, "db">,
  use: TokenUse & { minutes: number; token?: string; isMailed?: boolean },
): Promise<string> {
  const { purpose, userId, minutes, token = randomBytes(32).toString("base64url"), isMailed = false } = use;
  await deps.db.insert(signInTokens).values({
    id: newId(),
    purpose,
    userId,
    isMailed,
    secretHash: hashOf(token),
    expiresAt: sql`now() + ${minutes} * interval '1 minute'`,
  });
  return token;
}

/** Where somebody lands who wanted no page. */
const HOME = "/console";

/** The page that each link opens. */
const PAGES = { sign_in_link: "/login/link", password_reset: "/login/reset" } as const;

/**
 * The link that a token goes out in, built from the public address alone. The token stands in its fragment, which a browser
 * sends to nobody: no log, no proxy and no other site is told of it. `landing` is a path of ours to go on to.
 */
export function linkTo(
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
 * Spends a token: of any number who try at once, one is told whose it was, and whether it had been mailed. Null for one that is
 * spent, too old, made for something else, or none.
 */
export async function spendSignInToken(
  tx: Db,
  purpose: TokenPurpose,
  token: string,
): Promise<{ userId: string | null; isMailed: boolean } | null> {
  const [spent] = await tx
    .update(signInTokens)
    .set({ spentAt: sql`now()` })
    .where(isLive(purpose, token))
    .returning({ userId: signInTokens.userId, isMailed: signInTokens.isMailed });
  return spent ?? null;
}

/** Whose a token is that could be spent now. Spends nothing. */
export async function readSignInToken(
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

/** Voids every link that somebody has: whoever changes a password leaves no other way in behind. */
export async function voidSignInTokens(tx: Db, userId: string): Promise<void> {
  await tx
    .update(signInTokens)
    .set({ spentAt: sql`now()` })
    .where(and(eq(signInTokens.userId, userId), isNull(signInTokens.spentAt)));
}

/** Whether it has the form of a token, whoever wrote it. */
export const isSignInToken = (text: string): boolean => TOKEN.test(text);

const isLive = (purpose: TokenPurpose, token: string) =>
  and(
    eq(signInTokens.secretHash, hashOf(token)),
    eq(signInTokens.purpose, purpose),
    isNull(signInTokens.spentAt),
    gt(signInTokens.expiresAt, sql`now()`),
  );

const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();
