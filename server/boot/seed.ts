import { count, sql } from "drizzle-orm";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/ids";
import { createKey } from "#server/services/keys/keys";
import { createTeam, findTeam } from "#server/services/teams";
import { createUser, findUser } from "#server/services/users";

export type SeedInput = {
  adminEmail: string;
  adminPassword: string;
  /** Makes a key for the first team although there is a team already: the one that was kept works no more. */
  wantsKey: boolean;
};

/** Any number will do, so long as no other program on the same database uses it. */
const SEED_LOCK = 7_067_381_205;

/**
 * Fills an empty database with the first team, its owner and a key that may send from the built-in domain and read what
 * became of it. Several processes may do this at once: one fills, the others find it filled. Returns the token where
 * a key was made.
 */
export async function seedDatabase(deps: Deps, input: SeedInput): Promise<{ token: string | null }> {
  return deps.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${SEED_LOCK})`);
    const inside: Deps = { ...deps, db: tx };
    const [found] = await tx.select({ teams: count() }).from(teams);
    const isEmpty = found?.teams === 0;
    if (!isEmpty && !input.wantsKey) return { token: null };

    const team = isEmpty ? await createTeam(inside, { name: "First team" }) : await findTeam(inside);
    if (isEmpty && !(await findUser(inside, input.adminEmail))) {
      await createUser(inside, {
        email: input.adminEmail,
        password: input.adminPassword,
        teamId: team.id,
        role: "owner",
      });
    }
    const ctx: Ctx = { ...inside, teamId: team.id, actor: { kind: "operator" }, requestId: newId() };
    const { token } = await createKey(ctx, {
      name: "First key",
      scopes: ["emails:send", "emails:read"],
      domains: ["posthorn.test"],
    });
    return { token };
  });
}
