import type { Deps } from "#server/deps";
import type { Settings } from "#server/platform/env/settings";
import { createFirstUser, createFirstUserCode, hasUsers } from "#server/services/people/first-user";
import { prepareUser } from "#server/services/people/users";
import { setUpLink } from "../launcher/banner";

/**
 * Called on a visit of /setup where Next runs without the launcher. If no user exists, creates the user of the settings, or
 * else logs a link that creates the first user. Only readers of the log can use it.
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
