import { desc, eq } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";

const choicesMax = 200;

/**
 * The values for the list's filters: the team's keys (also revoked ones, because their emails remain) and its
 * domains.
 */
export async function listFilterValues(
  ctx: Ctx,
): Promise<{ keys: { id: string; name: string }[]; domains: string[] }> {
  const [keys, names] = await Promise.all([
    ctx.db
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(eq(apiKeys.teamId, ctx.teamId))
      .orderBy(desc(apiKeys.id))
      .limit(choicesMax),
    ctx.db
      .select({ name: domains.name })
      .from(domains)
      .where(eq(domains.teamId, ctx.teamId))
      .orderBy(domains.name)
      .limit(choicesMax),
  ]);
  return { keys, domains: names.map(({ name }) => name) };
}
