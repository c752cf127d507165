import { count } from "drizzle-orm";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/ids";
import { hasUsers, lockFirstUser } from "#server/services/first-user";
import { createKey } from "#server/services/keys/keys";
import { createTeam, findTeam } from "#server/services/teams";
import { createUser } from "#server/services/users";

export type SeedInput = {
  adminEmail: string;
  /** Null where nobody gave one: the first user comes by a code. */
  adminPassword: string | null;
  /** Makes a key for the first team although there is a team already: the one that was kept works no more. */
  wantsKey: boolean;
};

/**
 * Fills an empty database with the first team and a key that may send from the built-in domain and read what became of it; and
 * makes the given person the first user, where there is none. Several processes may do this at once: one fills, the others
 * find it filled. Returns the token where a key was made.
 */
export async function seedDatabase(deps: Deps, input: SeedInput): Promise<{ token: string | null }> {
  const { adminEmail: email, adminPassword: password } = input;
  return deps.db.transaction(async (tx) => {
    await lockFirstUser(tx);
    const inside: Deps = { ...deps, db: tx };
    const [found] = await tx.select({ teams: count() }).from(teams);
    const isEmpty = found?.teams === 0;
    if (isEmpty) await createTeam(inside, { name: "First team" });
    if (password !== null && !(await hasUsers(inside)))
      await createUser(inside, { email, password, teamId: (await findTeam(inside)).id, role: "owner" });
    return { token: isEmpty || input.wantsKey ? await makeKey(inside) : null };
  });
}

async function makeKey(deps: Deps): Promise<string> {
  const { id: teamId } = await findTeam(deps);
  const ctx: Ctx = { ...deps, teamId, actor: { kind: "operator" }, requestId: newId() };
  const { token } = await createKey(ctx, {
    name: "First key",
    scopes: ["emails:send", "emails:read"],
    domains: ["posthorn.test"],
  });
  return token;
}
