import { and, asc, desc, eq, getTableColumns, gt, lt } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";
import { type Page, type PageQuery, pageOf } from "../paging";

/** The private key stays in its row: nobody but the signer of mail has a use for it. */
const { dkimPrivateKey: _, ...columns } = getTableColumns(domains);
export const domainColumns = columns;

/** A domain of a team, its secrets left out. */
export type Domain = Omit<typeof domains.$inferSelect, "dkimPrivateKey">;

/** The team's domains by name, the built-in one included. */
export async function listDomains(ctx: Ctx): Promise<Domain[]> {
  return ctx.db
    .select(columns)
    .from(domains)
    .where(eq(domains.teamId, ctx.teamId))
    .orderBy(asc(domains.name));
}

/** The team's domains newest first, the built-in one included, by pages. */
export async function pageDomains(ctx: Ctx, query: PageQuery): Promise<Page<Domain>> {
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select(columns)
      .from(domains)
      .where(
        and(
          eq(domains.teamId, ctx.teamId),
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
    .select(columns)
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), isNamed));
  if (!domain) throw notFound("Domain");
  return domain;
}
