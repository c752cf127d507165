import { and, eq, inArray } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import type { Ctx } from "#server/deps";

/** Names of the team's keys by id, including revoked keys: emails outlive the key that sent them. */
export async function nameKeys(ctx: Ctx, ids: readonly string[]): Promise<Map<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const rows = await ctx.db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.teamId, ctx.teamId), inArray(apiKeys.id, wanted)));
  return new Map(rows.map(({ id, name }) => [id, name]));
}
