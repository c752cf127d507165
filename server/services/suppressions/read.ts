import { and, eq, inArray, or, sql } from "drizzle-orm";
import { type SuppressionOrigin, type SuppressionRow, suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { foldAddress } from "#server/shared/text/fold-address";
import { type Suppression, suppressionOf } from "#server/shared/wire/suppression";
import { type Page, type PageQuery, pageById } from "../paging";
import { listedForm } from "./erased";

/** Identifies one entry, by id or by address. */
export type SuppressionName = { id: string } | { address: string };

/**
 * Matches the team's entries with these names. An address also matches the entry that is left of it after its
 * erasure.
 */
export const isNamed = (ctx: Ctx, names: readonly SuppressionName[]) => {
  const ids = names.flatMap((name) => ("id" in name ? [name.id] : []));
  const addresses = names.flatMap((name) => ("address" in name ? [foldAddress(name.address)] : []));
  return and(
    eq(suppressions.teamId, ctx.teamId),
    ids.length > 0
      ? inArray(suppressions.id, ids)
      : or(
          inArray(suppressions.address, addresses),
          sql`${suppressions.address} in (
            select ${sql.raw(listedForm("v.team_id", "v.address"))}
            from (select ${ctx.teamId}::uuid as team_id, unnest(${sql.param(addresses)}::text[]) as address) v)`,
        ),
  );
};

/** The team's suppressed addresses, newest first. */
export const listSuppressions = (
  ctx: Ctx,
  query: PageQuery & { origin?: SuppressionOrigin },
): Promise<Page<Suppression>> =>
  pageById(ctx, suppressions, query, {
    select: () => ctx.db.select().from(suppressions).$dynamic(),
    where: query.origin && eq(suppressions.origin, query.origin),
  });

export async function getSuppression(ctx: Ctx, name: SuppressionName): Promise<Suppression> {
  const [row] = await ctx.db
    .select()
    .from(suppressions)
    .where(isNamed(ctx, [name]));
  if (!row) throw notFound("Suppression");
  return row;
}

/**
 * The suppressed addresses among these, keyed by the address as given. Throws if the list cannot be read: an
 * email to one of them must wait then.
 */
export async function findSuppressed(
  ctx: Pick<Ctx, "db" | "teamId">,
  addresses: readonly string[],
): Promise<Map<string, Suppression>> {
  if (addresses.length === 0) return new Map();
  const folded = [...new Set(addresses.map(foldAddress))];
  const rows = await ctx.db.execute<{ given: string; row: SuppressionRow }>(sql`
    select v.address as given, to_jsonb(s) as row
    from (select ${ctx.teamId}::uuid as team_id, unnest(${sql.param(folded)}::text[]) as address) v
      cross join lateral (values (v.address), (${sql.raw(listedForm("v.team_id", "v.address"))})) as form(address)
      join suppressions s on s.team_id = v.team_id and s.address = form.address`);
  const byAddress = new Map(rows.map(({ given, row }) => [given, suppressionOf(row)]));
  return new Map(
    addresses.flatMap((address) => {
      const row = byAddress.get(foldAddress(address));
      return row ? [[address, row]] : [];
    }),
  );
}
