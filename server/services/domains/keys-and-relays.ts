import { and, asc, eq, exists, isNull, or, sql } from "drizzle-orm";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import { relays } from "#db/schema/relays";
import type { Ctx } from "#server/deps";
import type { Domain } from "./read";

/** A key that may send from a domain, either by a link or because it may send from all domains. */
export type BoundKey = { id: string; name: string; isForAll: boolean };

const keysMax = 100;

/** The active keys that may send from a domain: at most 100, by name. */
export async function listKeysOfDomain(ctx: Ctx, domainId: string): Promise<BoundKey[]> {
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

/** A relay that the operator added, without its secrets. */
export type BoundRelay = { name: string; host: string; scope: "domain" | "team" | "everybody" };

/**
 * The relays that carry a domain's email, in the order in which they are tried: those of the domain, else of
 * its team, else of the installation. Empty if email leaves through `SMTP_URL`.
 */
export async function listRelaysOfDomain(ctx: Ctx, { id }: Pick<Domain, "id">): Promise<BoundRelay[]> {
  const rows = await ctx.db
    .select({
      name: relays.name,
      host: relays.host,
      scope: sql<BoundRelay["scope"]>`case when ${relays.domainId} is not null then 'domain'
        when ${relays.teamId} is not null then 'team' else 'everybody' end`,
    })
    .from(relays)
    .where(
      or(
        isNull(relays.teamId),
        and(eq(relays.teamId, ctx.teamId), or(isNull(relays.domainId), eq(relays.domainId, id))),
      ),
    )
    .orderBy(asc(relays.position), asc(relays.createdAt));
  const scope = (["domain", "team", "everybody"] as const).find((each) =>
    rows.some((row) => row.scope === each),
  );
  return rows.filter((row) => row.scope === scope);
}
