import type { Deps } from "#server/deps";
import type { Settings } from "#server/env";
import { hasUsers, makeFirstUser, makeFirstUserCode } from "#server/services/first-user";
import { prepareUser } from "#server/services/users";
import { setUpLink } from "./banner";

/**
 * For where nobody watches a start, once somebody comes while nobody is a user: makes the one whom the settings name, or
 * writes a link to the log which only whoever may read that log can open.
 */
export async function prepareFirstUser(
  deps: Deps,
  { adminEmail: email, adminPassword: password, url }: Pick<Settings, "adminEmail" | "adminPassword" | "url">,
): Promise<void> {
  if (await hasUsers(deps)) return;
  if (password !== null) return void (await makeFirstUser(deps, await prepareUser({ email, password })));
  const code = await makeFirstUserCode(deps);
  if (code !== null) deps.log.warn("first_user.link", { setUp: setUpLink(url, code) });
}
