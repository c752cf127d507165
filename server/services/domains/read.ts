import { and, asc, desc, eq, getTableColumns, gt, lt, sql } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";
import type { DkimAlgorithm } from "#server/mail/dkim/key";
import { type Page, type PageQuery, pageOf } from "../paging";
import { todayColumns } from "./caps";

/** A key of a domain without its private half, which nobody but the signer of mail has a use for. */
export type DomainKey = {
  id: string;
  algorithm: DkimAlgorithm;
  selector: string;
  publicKey: string;
  /** `waiting` to be seen in DNS, `signing` what is accepted now, or `retired`: only what was accepted before. */
  stage: "waiting" | "signing" | "retired";
  /** Until when at least the record of a retired key has to stay published, in ISO 8601. */
  keptUntil: string | null;
};

/** What a domain is read as. The keys stand RSA first, and the oldest of a kind first. */
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
    select from relays r where r.team_id is null
      or (r.team_id = domains.team_id and (r.domain_id is null or r.domain_id = domains.id)))`.as(
    "is_relayed",
  ),
};

/** A domain of a team, its secrets left out. */
export type Domain = typeof domains.$inferSelect & {
  dkimKeys: DomainKey[];
  /** Recipients that today (UTC) allows it, null where neither cap nor warm-up holds; and those it has used. */
  allowedToday: number | null;
  handedOverToday: number;
  /** Its mail goes by a relay, and not by `SMTP_URL`. */
  isRelayed: boolean;
};

/** The team's domains by name, the built-in one included. */
export async function listDomains(ctx: Ctx): Promise<Domain[]> {
  return ctx.db
    .select(domainColumns)
    .from(domains)
    .where(eq(domains.teamId, ctx.teamId))
    .orderBy(asc(domains.name));
}

/** The team's domains newest first, the built-in one included, by pages: all, or those whose name holds a text. */
export async function pageDomains(ctx: Ctx, query: PageQuery & { name?: string }): Promise<Page<Domain>> {
  const wanted = query.name?.toLowerCase();
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select(domainColumns)
      .from(domains)
      .where(
        and(
          eq(domains.teamId, ctx.teamId),
          wanted ? sql`strpos(${domains.name}, ${wanted}) > 0` : undefined,
          cursor && (cursor.direction === "older" ? lt(domains.id, cursor.id) : gt(domains.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(domains.id) : asc(domains.id))
      .limit(limit),
  );
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
