import { sql } from "drizzle-orm";
import { foldAddress } from "#db/fold-address";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { newId } from "#server/ids";
import type { AuditAction } from "../audit/actions";
import { recordAudit } from "../audit/record";
import { announceEach } from "../webhooks/announce";
import { type Suppression, suppressionJson } from "./present";

/** Rows of one statement: between two of them others get their turn. */
const rowsMax = 5_000;

/** `ids` has one for each address that was asked for, in that order; `added` are the new ones among them. */
export type Added = { ids: string[]; added: Suppression[] };

type Row = {
  id: string;
  address: string;
  origin: SuppressionOrigin;
  source: string | null;
  created_ms: number;
};

/** How the addresses came, and who hears how many of them are written before all of them are committed. */
export type Adding = {
  action?: Extract<AuditAction, "suppression.added" | "suppression.imported">;
  onWritten?: (count: number, of: number) => void;
};

/**
 * Puts addresses on the team's list by hand; those that are there stay as they are. All are committed together, with the
 * webhooks that tell of the new ones.
 */
export async function addSuppressions(
  ctx: Ctx,
  addresses: readonly string[],
  { action = "suppression.added", onWritten }: Adding = {},
): Promise<Added> {
  // In one order, so that two callers who share addresses wait for each other and never in a circle.
  const wanted = [...new Set(addresses.map(foldAddress))].sort();
  const ids = new Map<string, string>();
  const added: Suppression[] = [];
  await ctx.db.transaction(async (tx) => {
    for (let at = 0; at < wanted.length; at += rowsMax) {
      const part = wanted.slice(at, at + rowsMax);
      const proposed = part.map(newId);
      const own = new Set(proposed);
      // Arrays and not rows of values: building those takes longer than writing them. The update returns what is
      // there, which has another id than the one that was proposed; where it blocked lists only, it blocks all from now on.
      const rows = await tx.execute<Row>(sql`
        insert into suppressions (team_id, id, address, origin)
        select ${ctx.teamId}::uuid, id, address, 'manual'
        from unnest(${sql.param(proposed)}::uuid[], ${sql.param(part)}::text[]) as a(id, address)
        on conflict (team_id, address) do update set lists_only = false
        returning id, address, origin, source_email_id as source,
          (extract(epoch from created_at) * 1000)::float8 as created_ms`);
      for (const { address, id } of rows) ids.set(address, id);
      const fresh = rows.filter(({ id }) => own.has(id)).map(readRow);
      await announceEach({ ...ctx, db: tx }, "suppression.added", fresh.map(suppressionJson));
      for (const row of fresh) added.push(row);
      onWritten?.(Math.min(at + rowsMax, wanted.length), wanted.length);
    }
    if (added.length > 0)
      await recordAudit(tx, ctx, { action, ...subjectOf(added), detail: { count: added.length } });
  });
  if (added.length > 0) ctx.wake();
  return { ids: addresses.map((address) => ids.get(foldAddress(address)) ?? ""), added };
}

/** One entry is named in the audit log; of many it tells how many. */
export const subjectOf = (rows: readonly Suppression[]) => {
  const [only, ...others] = rows;
  return only && others.length === 0 ? { subject: { id: only.id, name: only.address } } : {};
};

const readRow = ({ id, address, origin, source, created_ms }: Row): Suppression => ({
  id,
  address,
  origin,
  sourceEmailId: source,
  listsOnly: false,
  createdAt: new Date(created_ms),
});
