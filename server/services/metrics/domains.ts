import { eq } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { listLinkedDomains } from "../keys/linked-domains";

/**
 * The names of the sender domains that a query reads, null for all, and the ids of the team's domains by
 * name. A key that is limited to domains reads only those. 422 for an id that is none of them.
 */
export async function listDomainNames(
  ctx: Ctx,
  ids: readonly string[] | undefined,
): Promise<{ domains: string[] | null; idsByName: Map<string, string> }> {
  const linked = await listLinkedDomains(ctx);
  const all = await ctx.db
    .select({ id: domains.id, name: domains.name })
    .from(domains)
    .where(eq(domains.teamId, ctx.teamId));
  const readable = all.filter(({ name }) => linked === null || linked.includes(name));
  const idsByName = new Map(readable.map(({ id, name }) => [name, id]));
  if (!ids) return { domains: linked, idsByName };
  const named = ids.map((id) => {
    const found = readable.find((domain) => domain.id === id);
    if (!found) throw new AppError("invalid", `Invalid \`domain_id\`: there is no domain with the id ${id}.`);
    return found.name;
  });
  return { domains: named, idsByName };
}
