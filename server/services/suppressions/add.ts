import { sql } from "drizzle-orm";
import { foldAddress } from "#db/fold-address";
import { suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { newId } from "#server/ids";
import { announceEach } from "../webhooks/announce";
import { type Suppression, suppressionJson } from "./present";

/** Rows of one statement, whose parameters PostgreSQL counts in 16 bits. */
const rowsMax = 5_000;

/** `ids` has one for each address that was asked for, in that order; `added` are the new ones among them. */
export type Added = { ids: string[]; added: Suppression[] };

/**
 * Puts addresses on the team's list by hand; those that are there stay as they are. All are committed together, with the
 * webhooks that tell of the new ones.
 */
export async function addSuppressions(ctx: Ctx, addresses: readonly string[]): Promise<Added> {
  // In one order, so that two callers who share addresses wait for each other and never in a circle.
  const wanted = [...new Set(addresses.map(foldAddress))].sort();
  const ids = new Map<string, string>();
  const added: Suppression[] = [];
  await ctx.db.transaction(async (tx) => {
    for (let at = 0; at < wanted.length; at += rowsMax) {
      const proposed = wanted.slice(at, at + rowsMax).map((address) => ({
        teamId: ctx.teamId,
        id: newId(),
        address,
        origin: "manual" as const,
      }));
      const own = new Set(proposed.map(({ id }) => id));
      const rows = await tx
        .insert(suppressions)
        .values(proposed)
        // Changes nothing, and yet returns what is there: another id than the one that was proposed.
        .onConflictDoUpdate({
          target: [suppressions.teamId, suppressions.address],
          set: { address: sql`excluded.address` },
        })
        .returning();
      for (const row of rows) ids.set(row.address, row.id);
      const fresh = rows.filter(({ id }) => own.has(id));
      await announceEach({ ...ctx, db: tx }, "suppression.added", fresh.map(suppressionJson));
      added.push(...fresh);
    }
  });
  if (added.length > 0) ctx.wake();
  return { ids: addresses.map((address) => ids.get(foldAddress(address)) ?? ""), added };
}
