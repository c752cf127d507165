import { and, eq, gt, sql } from "drizzle-orm";
import { sessions, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import type { InProcessStore } from "#server/limits/in-process";
import type { Visitor } from "#server/visitor";
import { type User, verifyPassword } from "../users";
import { tryCode } from "./codes";
import { type Factors, needsSecondStep, readFactors } from "./factors";
import { isRecoveryCode } from "./recovery-codes";

const triesPerMinute = 6;
const freshMinutes = 10;

/** Who acts on their own account, in which session, and what they typed to prove it once more. */
export type Owner = { user: User; sessionId: string; visitor: Visitor };

/**
 * What a person can prove themselves by once more. Whoever has neither a password nor a code left, as with passkeys alone and
 * recovery codes that are spent, must have signed in a moment ago.
 */
export const proofOf = (person: { hasPassword: boolean; factors: Factors }) => {
  const { hasTotp, recoveryCodesLeft } = person.factors;
  const hasCode = hasTotp || (needsSecondStep(person.factors) && recoveryCodesLeft > 0);
  if (person.hasPassword) return hasCode ? "password_or_code" : "password";
  return hasCode ? "code" : "fresh_session";
};

/**
 * Asks whoever is signed in to prove it once more before their account's locks are changed, so that a session left open
 * is not enough: by the password, or by a code, or else by having signed in a moment ago. AppError `invalid` for a wrong one,
 * `rate_limited` after several.
 */
export async function proveAgain(
  deps: Deps & { signInTries: InProcessStore },
  owner: Owner,
  proof: string,
): Promise<void> {
  const { user, visitor } = owner;
  if (!deps.signInTries.take(`prove:${user.id}`, triesPerMinute).allowed)
    throw new AppError("rate_limited", "Too many tries. Wait a minute and try again.");
  const kind = proofOf({
    hasPassword: await hasPassword(deps, user.id),
    factors: await readFactors(deps.db, user.id),
  });
  if (kind === "fresh_session") return requireFresh(deps, owner);
  const looksLikeCode = /^[\s-]*(\d[\s-]*){6}$/.test(proof) || isRecoveryCode(proof);
  if (kind !== "password" && looksLikeCode) {
    const tried = await deps.db.transaction((tx) =>
      tryCode({ ...deps, db: tx }, { user, code: proof, visitor }),
    );
    if (tried === "totp" || tried === "recovery_code") return;
    if (tried === "too_many_tries")
      throw new AppError("rate_limited", "Too many wrong codes. Wait an hour, or use a recovery code.");
  }
  if (kind !== "code" && (await verifyPassword(deps, { email: user.email, password: proof }))) return;
  throw new AppError("invalid", REFUSALS[kind]);
}

const REFUSALS = {
  password: "That is not your password.",
  code: "That code is not right, or was used already. Take the app's next one, or a recovery code that is left.",
  password_or_code: "That is neither your password nor a code that still works.",
} as const;

/** Whether that person signs in by password at all. */
export async function hasPassword(deps: Pick<Deps, "db">, userId: string): Promise<boolean> {
  const [user] = await deps.db
    .select({ has: sql<boolean>`${users.passwordHash} is not null` })
    .from(users)
    .where(eq(users.id, userId));
  return user?.has ?? false;
}

async function requireFresh(deps: Deps, { sessionId }: Owner): Promise<void> {
  const [fresh] = await deps.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(
        eq(sessions.id, sessionId),
        gt(sessions.createdAt, sql`now() - ${freshMinutes} * interval '1 minute'`),
      ),
    );
  if (!fresh)
    throw new AppError(
      "invalid",
      `Sign out and in again first: without a password or a code this is open for ${freshMinutes} minutes after signing in.`,
    );
}
