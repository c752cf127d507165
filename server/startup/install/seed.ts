import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import type { Settings } from "#server/platform/env/settings";
import { newId } from "#server/platform/ids";
import {
  createFirstUser,
  createFirstUserCode,
  hasUsers,
  lockFirstUser,
} from "#server/services/account/first-user";
import { createKey } from "#server/services/keys/keys";
import { createUser, prepareUser } from "#server/services/people/users";
import { createTeam, findTeam } from "#server/services/teams";
import { setUpLink } from "../launcher/banner";

type SeedInput = {
  adminEmail: string;
  /** Null if there is none: a code creates the first user instead. */
  adminPassword: string | null;
  /** Creates a key for the first team even if a team exists, because the stored key is no longer valid. */
  wantsKey: boolean;
};

/**
 * Seeds an empty database with the first team and a key that can send from the built-in domain and read
 * emails. Creates the first user if there is none. Safe to run concurrently: one process seeds, the others
 * find the result. Returns the token if a key was created.
 */
export async function seedDatabase(deps: Deps, input: SeedInput): Promise<{ token: string | null }> {
  const { adminEmail: email, adminPassword: password } = input;
  return deps.db.transaction(async (tx) => {
    await lockFirstUser(tx);
    const inside: Deps = { ...deps, db: tx };
    const isEmpty = (await tx.$count(teams)) === 0;
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
    scopes: ["emails:send", "emails:read"],
    domains: ["backstamp.test"],
  });
  return token;
}

/**
 * Called on a visit of /setup where Next runs without the launcher. If no user exists, creates the user of
 * the settings, or else logs a link that creates the first user. Only readers of the log can use it.
 */
export async function prepareFirstUser(
  deps: Deps,
  { adminEmail: email, adminPassword: password, url }: Pick<Settings, "adminEmail" | "adminPassword" | "url">,
): Promise<void> {
  if (await hasUsers(deps)) return;
  if (password !== null) return void (await createFirstUser(deps, await prepareUser({ email, password })));
  const code = await createFirstUserCode(deps);
  if (code !== null) deps.log.warn("first_user.link", { setUp: setUpLink(url, code) });
}
