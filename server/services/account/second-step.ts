import { createHash, randomBytes } from "node:crypto";
import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { type SignInWay, secondSteps } from "#db/schema/account";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import type { InProcessStore } from "#server/limits/in-process";
import { countedAs, type Visitor } from "#server/visitor";
import type { User } from "../users";
import { CODE_TRIES, type CodeKind, tryCode } from "./codes";
import { type Factors, readFactors } from "./factors";
import { type LetIn, letIn, WAYS } from "./let-in";

const lifetimeMinutes = 5;

export type SecondStep =
  | LetIn
  /** What was given was wrong, or had been used. */
  | { kind: "refused" }
  | { kind: "too_many_tries" }
  /** The first proof is too old, used up, or never was. */
  | { kind: "over" };

/** Notes a first proof and answers the token by which the second one refers to it. It lives for five minutes. */
export async function openSecondStep(tx: Db, input: { userId: string; way: SignInWay }): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await tx.insert(secondSteps).values({
    ...input,
    tokenHash: hashOf(token),
    expiresAt: sql`now() + ${lifetimeMinutes} * interval '1 minute'`,
  });
  return token;
}

/** Whose second step that token is for, and what it may be; null where there is none to take. Takes nothing from it. */
export async function readSecondStep(
  deps: Deps,
  token: string,
): Promise<{ user: User; factors: Factors } | null> {
  const [found] = await deps.db
    .select({ user: { id: users.id, email: users.email, name: users.name } })
    .from(secondSteps)
    .innerJoin(users, eq(users.id, secondSteps.userId))
    .where(isOpen(token));
  return found ? { user: found.user, factors: await readFactors(deps.db, found.user.id) } : null;
}

/** Takes a code of the authenticator app, or a recovery code, as the second proof, and opens the session. */
export async function finishByCode(
  deps: Deps & { signInTries: InProcessStore },
  input: { token: string; code: string; visitor: Visitor },
): Promise<SecondStep> {
  const { token, code, visitor } = input;
  const perMinute = CODE_TRIES.addressPerMinute;
  if (!deps.signInTries.take(`second:${countedAs(visitor)}`, perMinute).allowed)
    return { kind: "too_many_tries" };
  const user = await countTry(deps, token);
  if (!user) return { kind: "over" };
  return deps.db.transaction(async (tx) => {
    const tried = await tryCode({ ...deps, db: tx }, { user, code, visitor });
    if (tried === "refused" || tried === "too_many_tries") return { kind: tried };
    return finishStep({ ...deps, db: tx }, { token, user, visitor, by: CODE_NAMES[tried] });
  });
}

const CODE_NAMES: Record<CodeKind, string> = {
  totp: "an authenticator app",
  recovery_code: "a recovery code",
};

/** Ends the step of that token, whose second proof the user has given, and opens the session. `deps.db` is a transaction. */
export async function finishStep(
  deps: Deps,
  input: { token: string; user: User; visitor: Visitor; by: string },
): Promise<LetIn | { kind: "over" }> {
  const { token, user, visitor } = input;
  const [step] = await deps.db
    .delete(secondSteps)
    .where(
      and(
        eq(secondSteps.tokenHash, hashOf(token)),
        eq(secondSteps.userId, user.id),
        gt(secondSteps.expiresAt, sql`now()`),
      ),
    )
    .returning({ way: secondSteps.way });
  if (!step) return { kind: "over" };
  return letIn(deps, { user, visitor, by: `${WAYS[step.way]} and ${input.by}` });
}

const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

const isOpen = (token: string) =>
  and(
    eq(secondSteps.tokenHash, hashOf(token)),
    gt(secondSteps.expiresAt, sql`now()`),
    lt(secondSteps.tries, CODE_TRIES.step),
  );

/** Counts before it is judged, and in a statement of its own, so that tries at one moment are counted too. */
async function countTry(deps: Deps, token: string): Promise<User | null> {
  const [user] = await deps.db
    .update(secondSteps)
    .set({ tries: sql`${secondSteps.tries} + 1` })
    .from(users)
    .where(and(isOpen(token), eq(users.id, secondSteps.userId)))
    .returning({ id: users.id, email: users.email, name: users.name });
  return user ?? null;
}
