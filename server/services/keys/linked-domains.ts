import { and, eq } from "drizzle-orm";
import { apiKeyDomains } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { rejectKey } from "#server/platform/errors";
import { linksOfKey } from "./grant";

/**
 * The sender domains whose emails the caller may change: those that the key is linked to now. Null: all
 * domains, for members, the operator and keys for all domains. Reading is not limited by domain: it covers
 * the whole team.
 */
export async function listLinkedDomains(ctx: Ctx): Promise<string[] | null> {
  const { actor } = ctx;
  if (actor.kind !== "key" || actor.allDomains) return null;
  const links = await ctx.db
    .select({ name: domains.name })
    .from(apiKeyDomains)
    .innerJoin(domains, and(eq(domains.teamId, apiKeyDomains.teamId), eq(domains.id, apiKeyDomains.domainId)))
    .where(linksOfKey(ctx, actor.keyId));
  return links.map(({ name }) => name);
}

/** Rejects with 403 a key that is not linked to the sender domain of the email to change. */
export async function requireLinkedDomain(ctx: Ctx, senderDomain: string): Promise<void> {
  const linked = await listLinkedDomains(ctx);
  if (linked && !linked.includes(senderDomain))
    throw rejectKey(
      "domain_not_linked",
      `This key is not linked to ${senderDomain}, so it cannot change emails sent from that domain. Link the domain to the key in the console under API keys, or use another key.`,
    );
}
