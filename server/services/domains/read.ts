import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import type { DkimAlgorithm } from "#server/mail/dkim/key";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { type Page, type PageQuery, pageById } from "../paging";
import { todayColumns } from "./caps";
import { ownReturnPathAt } from "./return-path";

/** A DKIM key of a domain without its private half, which only the signer reads. */
export type DomainKey = {
  id: string;
  algorithm: DkimAlgorithm;
  selector: string;
  publicKey: string;
  /**
   * `waiting`: not yet found in DNS. `signing`: signs new email. `retired`: signs only email accepted
   * earlier.
   */
  stage: "waiting" | "signing" | "retired";
  /** The earliest time at which the record of a retired key may be removed from DNS, in ISO 8601. */
  keptUntil: string | null;
};

/** The columns of a `Domain`. Keys are sorted RSA first, then oldest first. */
export const domainColumns = {
  ...getTableColumns(domains),
  ...todayColumns,
  dkimKeys: sql<DomainKey[]>`(
    select coalesce(json_agg(json_build_object(
      'id', k.id, 'algorithm', k.algorithm, 'selector', k.selector, 'publicKey', k.public_key,
      'stage', case when k.signs_from is null then 'waiting' when k.signs_until <= now() then 'retired' else 'signing' end,
      'keptUntil', to_char(k.kept_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ) order by k.algorithm desc, k.created_at, k.id), '[]')::text
    from dkim_keys k where k.team_id = domains.team_id and k.domain_id = domains.id)`
    .mapWith((text: string): DomainKey[] => JSON.parse(text))
    .as("dkim_keys"),
  isRelayed: sql<boolean>`exists (
    select from relays r where not r.is_untested and (r.team_id is null
      or (r.team_id = domains.team_id and (r.domain_id is null or r.domain_id = domains.id))))`.as(
    "is_relayed",
  ),
  ownReturnPath: sql<string | null>`${sql.raw(ownReturnPathAt("domains", "now()"))}`.as("own_return_path"),
};

/** The condition for one domain of the team. */
export const isDomain = ({ teamId }: Pick<Ctx, "teamId">, id: string) =>
  and(eq(domains.teamId, teamId), eq(domains.id, id));

/** A domain of a team, without its secrets. */
export type Domain = typeof domains.$inferSelect & {
  dkimKeys: DomainKey[];
  /** Recipients allowed today (UTC), null without cap and warm-up; and recipients used today. */
  allowedToday: number | null;
  handedOverToday: number;
  /** Its email leaves through a relay of the database, not through `SMTP_URL`. */
  isRelayed: boolean;
  /** The domain of its own return path; null while the records of it are not in DNS. */
  ownReturnPath: string | null;
};

/** The team's domains by name, including the built-in one. */
export async function listDomains(ctx: Ctx): Promise<Domain[]> {
  return ctx.db
    .select(domainColumns)
    .from(domains)
    .where(eq(domains.teamId, ctx.teamId))
    .orderBy(asc(domains.name));
}

/**
 * Pages of the team's domains, newest first, including the built-in one; `name` filters by a part of the
 * name.
 */
export async function pageDomains(ctx: Ctx, query: PageQuery & { name?: string }): Promise<Page<Domain>> {
  const wanted = query.name?.toLowerCase();
  const isNamed = wanted ? sql`strpos(${domains.name}, ${wanted}) > 0` : undefined;
  const select = () => ctx.db.select(domainColumns).from(domains).$dynamic();
  return pageById(ctx, domains, query, { select, where: isNamed });
}

/** One domain by its id or its name. */
export async function findDomain(ctx: Ctx, idOrName: string): Promise<Domain> {
  const isNamed = isId(idOrName) ? eq(domains.id, idOrName) : eq(domains.name, idOrName.toLowerCase());
  const [domain] = await ctx.db
    .select(domainColumns)
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), isNamed));
  if (!domain) throw notFound("Domain");
  return domain;
}
