import { asc, eq, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { signInTokens } from "#db/schema/account";
import { teams, users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import type { Visitor } from "#server/platform/http/visitor";
import { makeLegibleCode, normalizeLegibleCode } from "#server/platform/secrets/legible-code";
import type { LimitedDeps } from "../people/sign-in-counters";
import { consumeSignInToken, createSignInToken, getSignInToken } from "../people/sign-in-tokens";
import { insertMember, type PreparedUser, prepareUser, type User } from "../people/users";
import { createTeam } from "../teams";

/** Key of the advisory lock. Arbitrary, but no other program may use it in the same database. */
const FIRST_USER_LOCK = 7_067_381_205;
const codeBits = 160;
const codeMinutes = 24 * 60;
/** Attempts per minute from one IP address. The code itself is too long to guess. */
const attemptsPerMinute = 10;

/** Serializes the creation of the first user. The lock is held until the transaction ends. */
export async function lockFirstUser(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_USER_LOCK})`);
}

/** Whether the installation has at least one user. */
export async function hasUsers({ db }: Pick<Deps, "db">): Promise<boolean> {
  const [user] = await db.select({ id: users.id }).from(users).limit(1);
  return user !== undefined;
}

/**
 * Creates a setup code for the first user; null if a user exists. The operator reads it in the output of the
 * process. It is valid once, for 24 hours, and until the first user exists. Only its hash is stored.
 */
export async function createFirstUserCode(deps: Pick<Deps, "db">): Promise<string | null> {
  if (await hasUsers(deps)) return null;
  const code = makeLegibleCode(codeBits);
  await createSignInToken(deps, {
    purpose: "first_user",
    userId: null,
    minutes: codeMinutes,
    token: normalizeLegibleCode(code),
  });
  return code;
}

/**
 * Creates the first user, the owner of the first team, with a setup code. Of several concurrent calls one
 * succeeds. A wrong or used code returns `expired`. AppError `invalid` for an invalid email address or
 * password.
 */
export async function setUpFirstUser(
  deps: LimitedDeps,
  input: { code: string; email: string; password: string; visitor: Visitor },
): Promise<{ kind: "created"; user: User } | { kind: "expired" } | { kind: "too_many_attempts" }> {
  if (!(await deps.signInLimiter.take(`first-user:${input.visitor.address}`, attemptsPerMinute)))
    return { kind: "too_many_attempts" };
  const code = normalizeLegibleCode(input.code);
  // Checked before the password is hashed: hashing is expensive, and a caller without a valid code must not
  // trigger it.
  if (!(await getSignInToken(deps, "first_user", code))) return { kind: "expired" };
  const user = await createFirstUser(
    deps,
    await prepareUser(input),
    async (tx) => (await consumeSignInToken(tx, "first_user", code)) !== null,
  );
  return user ? { kind: "created", user } : { kind: "expired" };
}

/** Creates the first user as owner of the first team. Null if a user exists or `isAllowed` returns false. */
export async function createFirstUser(
  deps: Deps,
  person: PreparedUser,
  isAllowed: (tx: Db) => Promise<boolean> = async () => true,
): Promise<User | null> {
  return deps.db.transaction(async (tx) => {
    await lockFirstUser(tx);
    const txDeps = { ...deps, db: tx };
    if ((await hasUsers(txDeps)) || !(await isAllowed(tx))) return null;
    const [found] = await tx.select({ id: teams.id }).from(teams).orderBy(asc(teams.id)).limit(1);
    const team = found ?? (await createTeam(txDeps, { name: "First team" }));
    const user = await insertMember(txDeps, person, { teamId: team.id, role: "owner" });
    await tx.delete(signInTokens).where(eq(signInTokens.purpose, "first_user"));
    return user;
  });
}
