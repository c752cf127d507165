import { asc, eq, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { signInTokens } from "#db/schema/sign-in-tokens";
import { memberships, teams, users } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/ids";
import { foldLegibleCode, makeLegibleCode } from "#server/legible-code";
import type { InProcessStore } from "#server/limits/in-process";
import type { Visitor } from "#server/visitor";
import { recordAudit } from "./audit/record";
import { mintSignInToken, readSignInToken, spendSignInToken } from "./sign-in-tokens";
import { createTeam } from "./teams";
import { insertUser, type PreparedUser, prepareUser, type User } from "./users";

/** Any number will do, so long as no other program on the same database uses it. */
const FIRST_USER_LOCK = 7_067_381_205;
const codeBits = 160;
const codeMinutes = 24 * 60;
/** Tries a minute from one network address; the code alone is far beyond guessing. */
const triesPerMinute = 10;

/** Makes whoever fills an empty installation wait for whoever is about to, until the transaction ends. */
export async function lockFirstUser(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_USER_LOCK})`);
}

/** Whether anybody can sign in here, or could. */
export async function hasUsers({ db }: Pick<Deps, "db">): Promise<boolean> {
  const [user] = await db.select({ id: users.id }).from(users).limit(1);
  return user !== undefined;
}

/**
 * A code by which whoever can read the output of this installation becomes its first user; null where there is one. It opens
 * once, for a day, and nothing at all as soon as somebody is a user. Only its hash is kept.
 */
export async function makeFirstUserCode(deps: Pick<Deps, "db">): Promise<string | null> {
  if (await hasUsers(deps)) return null;
  const code = makeLegibleCode(codeBits);
  await mintSignInToken(deps, {
    purpose: "first_user",
    userId: null,
    minutes: codeMinutes,
    token: foldLegibleCode(code),
  });
  return code;
}

/**
 * Makes the first user by such a code: the owner of the first team. Of any number who try at once one succeeds; whoever brings
 * a code that is wrong, or comes second, is told `over`. AppError `invalid` for an address or password that will not do.
 */
export async function setUpFirstUser(
  deps: Deps & { signInTries: InProcessStore },
  input: { code: string; email: string; password: string; visitor: Visitor },
): Promise<{ kind: "made"; user: User } | { kind: "over" } | { kind: "too_many_tries" }> {
  if (!deps.signInTries.take(`first-user:${input.visitor.address}`, triesPerMinute).allowed)
    return { kind: "too_many_tries" };
  const code = foldLegibleCode(input.code);
  // Asked before the password is hashed, which is work that no stranger is to set.
  if (!(await readSignInToken(deps, "first_user", code))) return { kind: "over" };
  const user = await makeFirstUser(
    deps,
    await prepareUser(input),
    async (tx) => (await spendSignInToken(tx, "first_user", code)) !== null,
  );
  return user ? { kind: "made", user } : { kind: "over" };
}

/** Makes somebody the first user, and the owner of the first team. Null where there is one, or `mayBe` says no. */
export async function makeFirstUser(
  deps: Deps,
  person: PreparedUser,
  mayBe: (tx: Db) => Promise<boolean> = async () => true,
): Promise<User | null> {
  return deps.db.transaction(async (tx) => {
    await lockFirstUser(tx);
    const inside = { ...deps, db: tx };
    if ((await hasUsers(inside)) || !(await mayBe(tx))) return null;
    const [found] = await tx.select({ id: teams.id }).from(teams).orderBy(asc(teams.id)).limit(1);
    const team = found ?? (await createTeam(inside, { name: "First team" }));
    const user = await insertUser(tx, person, { isAddressProved: true });
    await tx.insert(memberships).values({ teamId: team.id, userId: user.id, role: "owner" });
    const ctx: Ctx = { ...inside, teamId: team.id, actor: { kind: "operator" }, requestId: newId() };
    await recordAudit(tx, ctx, {
      action: "member.added",
      subject: { id: user.id, name: user.email },
      detail: { role: "owner" },
    });
    await tx.delete(signInTokens).where(eq(signInTokens.purpose, "first_user"));
    return user;
  });
}
