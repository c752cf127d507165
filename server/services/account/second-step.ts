import { createHash, randomBytes } from "node:crypto";
import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { accountEvents, type SignInWay, secondSteps } from "#db/schema/account";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import type { InProcessStore } from "#server/limits/in-process";
import type { Visitor } from "#server/visitor";
import { isKnownAddress } from "../sessions";
import type { User } from "../users";
import { type CodeKind, takeCode } from "./codes";
import { recordAccountEvent } from "./events";
import { type Factors, holdUser, readFactors } from "./factors";
import { type LetIn, letIn, WAYS } from "./let-in";
import { isRecoveryCode } from "./recovery-codes";

const lifetimeMinutes = 5;

/**
 * Wrong codes. None of these numbers locks an account: whoever signed in from an address before is not counted among the
 * strangers there, and recovery codes and passkeys, which nobody guesses, are never refused for a count of the account's.
 */
export const SECOND_STEP_TRIES = {
  /** For one first proof; then it has to be given again. */
  step: 5,
  /** Wrong codes an hour, for one account from one address where its owner has signed in before. */
  accountAtKnownAddress: 20,
  /** Wrong codes an hour, for one account from all other addresses together. A code is guessed once in 300 000 tries. */
  accountFromStrangers: 20,
  /** Tries of any kind a minute from one address. */
  addressPerMinute: 30,
} as const;

export type SecondStep =
  | LetIn
  /** The code was wrong, or had been used. */
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

/** What the second step of that token may be, or null where there is none to take. Takes nothing from it. */
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
  const perMinute = SECOND_STEP_TRIES.addressPerMinute;
  if (!deps.signInTries.take(`second:${visitor.address}`, perMinute).allowed)
    return { kind: "too_many_tries" };
  const owner = await countTry(deps, token);
  if (!owner) return { kind: "over" };
  return deps.db.transaction(async (tx) => {
    await holdUser(tx, owner.id);
    if (!isRecoveryCode(code) && (await isGuessing({ ...deps, db: tx }, owner, visitor)))
      return { kind: "too_many_tries" };
    const taken = await takeCode({ ...deps, db: tx }, { userId: owner.id, code });
    if (!taken) {
      await recordAccountEvent(tx, { userId: owner.id, kind: "code_refused", visitor });
      return { kind: "refused" };
    }
    if (taken === "recovery_code")
      await recordAccountEvent(tx, { userId: owner.id, kind: "recovery_code_used", visitor });
    return finish(tx, deps, { token, visitor, by: CODE_NAMES[taken] });
  });
}

const CODE_NAMES: Record<CodeKind, string> = {
  totp: "an authenticator app",
  recovery_code: "a recovery code",
};

/** Ends the step of that token, whose second proof was given, and opens the session. `tx` holds the user. */
export async function finish(
  tx: Db,
  deps: Deps,
  input: { token: string; visitor: Visitor; by: string },
): Promise<LetIn | { kind: "over" }> {
  const [step] = await tx
    .delete(secondSteps)
    .where(and(eq(secondSteps.tokenHash, hashOf(input.token)), gt(secondSteps.expiresAt, sql`now()`)))
    .returning({ userId: secondSteps.userId, way: secondSteps.way });
  if (!step) return { kind: "over" };
  const [user] = await tx
    .select({ id: users.id, email: users.email, name: users.name })
    .from(users)
    .where(eq(users.id, step.userId));
  if (!user) return { kind: "over" };
  const by = `${WAYS[step.way]} and ${input.by}`;
  return letIn({ ...deps, db: tx }, { user, visitor: input.visitor, by });
}

const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

const isOpen = (token: string) =>
  and(
    eq(secondSteps.tokenHash, hashOf(token)),
    gt(secondSteps.expiresAt, sql`now()`),
    lt(secondSteps.tries, SECOND_STEP_TRIES.step),
  );

/** Counts before it is judged, and in a statement of its own, so that tries at one moment are counted too. */
async function countTry(deps: Deps, token: string): Promise<{ id: string; email: string } | null> {
  const [owner] = await deps.db
    .update(secondSteps)
    .set({ tries: sql`${secondSteps.tries} + 1` })
    .from(users)
    .where(and(isOpen(token), eq(users.id, secondSteps.userId)))
    .returning({ id: users.id, email: users.email });
  return owner ?? null;
}

async function isGuessing(
  deps: Deps,
  owner: { id: string; email: string },
  visitor: Visitor,
): Promise<boolean> {
  const { address } = visitor;
  const isKnown = await isKnownAddress(deps, { email: owner.email, address });
  const { accountAtKnownAddress, accountFromStrangers } = SECOND_STEP_TRIES;
  const [wrong] = await deps.db
    .select({
      here: sql<number>`count(*) filter (where ${accountEvents.address} = ${address})::int`,
      all: sql<number>`count(*)::int`,
    })
    .from(accountEvents)
    .where(
      and(
        eq(accountEvents.userId, owner.id),
        eq(accountEvents.kind, "code_refused"),
        gt(accountEvents.createdAt, sql`now() - interval '1 hour'`),
      ),
    );
  if (!wrong) return false;
  return isKnown ? wrong.here >= accountAtKnownAddress : wrong.all >= accountFromStrangers;
}
