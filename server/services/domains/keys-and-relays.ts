import { and, asc, eq, exists, isNull, or, sql } from "drizzle-orm";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import { relays } from "#db/schema/relays";
import type { Ctx } from "#server/deps";
import { carriesDomain } from "../relays/read";
import type { Domain } from "./read";

const keysMax = 100;

/**
 * The active keys that may send from a domain, either by a link or because they may send from all domains: at
 * most 100, by name.
 */
export async function listKeysOfDomain(ctx: Ctx, domainId: string) {
  const linked = ctx.db
    .select({ one: sql`1` })
    .from(apiKeyDomains)
    .where(
      and(
        eq(apiKeyDomains.teamId, ctx.teamId),
        eq(apiKeyDomains.domainId, domainId),
        eq(apiKeyDomains.apiKeyId, apiKeys.id),
      ),
    );
  return ctx.db
    .select({ id: apiKeys.id, name: apiKeys.name, isForAll: apiKeys.allDomains })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.teamId, ctx.teamId),
        isNull(apiKeys.revokedAt),
        sql`coalesce(${apiKeys.expiresAt} > now(), true)`,
        or(eq(apiKeys.allDomains, true), exists(linked)),
      ),
    )
    .orderBy(asc(apiKeys.name), asc(apiKeys.id))
    .limit(keysMax);
}

/** Which email a relay carries, in the order in which the relays are selected. */
const SCOPES = ["domain", "team", "everybody"] as const;

/**
 * The relays, without their secrets, that carry a domain's email, in the order in which they are tried: those
 * of the domain, else of its team, else of the installation. Empty if email leaves through `SMTP_URL`.
 */
export async function listRelaysOfDomain(ctx: Ctx, { id }: Pick<Domain, "id">) {
  const rows = await ctx.db
    .select({
      name: relays.name,
      host: relays.host,
      scope: sql<(typeof SCOPES)[number]>`case when ${relays.domainId} is not null then 'domain'
        when ${relays.teamId} is not null then 'team' else 'everybody' end`,
    })
    .from(relays)
    .where(carriesDomain(ctx.teamId, id))
    .orderBy(asc(relays.position), asc(relays.createdAt));
  const scope = SCOPES.find((each) => rows.some((row) => row.scope === each));
  return rows.filter((row) => row.scope === scope);
}
