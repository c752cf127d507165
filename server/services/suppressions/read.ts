import { and, asc, desc, eq, gt, inArray, lt } from "drizzle-orm";
import { foldAddress } from "#db/fold-address";
import { type SuppressionOrigin, suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { type Page, type PageQuery, pageOf } from "../paging";
import type { Suppression } from "./present";

/** One entry of the list, named by its id or by its address. */
export type SuppressionName = { id: string } | { address: string };

/** The entries with these names among the team's. */
export const named = (ctx: Ctx, names: readonly SuppressionName[]) => {
  const ids = names.flatMap((name) => ("id" in name ? [name.id] : []));
  const addresses = names.flatMap((name) => ("address" in name ? [foldAddress(name.address)] : []));
  return and(
    eq(suppressions.teamId, ctx.teamId),
    ids.length > 0 ? inArray(suppressions.id, ids) : inArray(suppressions.address, addresses),
  );
};

/** The team's suppressed addresses, newest first. */
export async function listSuppressions(
  ctx: Ctx,
  query: PageQuery & { origin?: SuppressionOrigin },
): Promise<Page<Suppression>> {
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(suppressions)
      .where(
        and(
          eq(suppressions.teamId, ctx.teamId),
          query.origin && eq(suppressions.origin, query.origin),
          cursor &&
            (cursor.direction === "older" ? lt(suppressions.id, cursor.id) : gt(suppressions.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(suppressions.id) : asc(suppressions.id))
      .limit(limit),
  );
}

export async function getSuppression(ctx: Ctx, name: SuppressionName): Promise<Suppression> {
  const [row] = await ctx.db
    .select()
    .from(suppressions)
    .where(named(ctx, [name]));
  if (!row) throw notFound("Suppression");
  return row;
}

/**
 * Which of these addresses the team does not write to, by the address as it was given. Throws where the list cannot be
 * asked: a mail that might go to one of them must wait.
 */
export async function findSuppressed(
  ctx: Ctx,
  addresses: readonly string[],
): Promise<Map<string, Suppression>> {
  if (addresses.length === 0) return new Map();
  const rows = await ctx.db
    .select()
    .from(suppressions)
    .where(
      and(eq(suppressions.teamId, ctx.teamId), inArray(suppressions.address, addresses.map(foldAddress))),
    );
  const byAddress = new Map(rows.map((row) => [row.address, row]));
  const found = new Map<string, Suppression>();
  for (const address of addresses) {
    const row = byAddress.get(foldAddress(address));
    if (row) found.set(address, row);
  }
  return found;
}
