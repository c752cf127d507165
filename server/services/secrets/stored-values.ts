import type { HotSql } from "#db/client";
import { firstId } from "#server/platform/ids";
import { SEALED_COLUMNS, type SealedColumn } from "#server/platform/secrets/sealed-columns";
import type { SealedLocation, Vault } from "#server/platform/secrets/vault";

/** An encrypted value with its row. */
type StoredValue = { id: string; teamId: string; value: string };

/**
 * Encrypted values of a column in the order of their rows, after the row `after`. With `except`, only those
 * of other secrets. `isLocked` locks the rows against changes for the transaction and skips rows that another
 * transaction changes: waiting for them could end in a deadlock.
 */
export const listValues = (
  query: HotSql,
  { table, column, id, team }: SealedColumn,
  { limit, after = firstId, except, isLocked = false }: Selection,
): Promise<StoredValue[]> =>
  query<StoredValue[]>`
    select ${query(id)} as id, ${team ? query(team) : query`''`} as "teamId", ${query(column)} as value
    from ${query(table)}
    where ${query(id)} > ${after} and ${query(column)} is not null
      ${except === undefined ? query`` : query`and split_part(${query(column)}, '.', 3) <> ${except}`}
    order by ${query(id)} limit ${limit}
    ${isLocked ? query`for no key update skip locked` : query``}`;

type Selection = { limit: number; after?: string; except?: string; isLocked?: boolean };

/** Whether the vault opens this value. */
export function canOpen(vault: Vault, value: string, location: SealedLocation): boolean {
  try {
    vault.open(value, location);
    return true;
  } catch {
    return false;
  }
}

/** How many values of a kind name a secret. The id is empty for values of release 0.2.0, which name none. */
export type ValueCount = { name: string; secretId: string; count: number };

/** Counts the stored values by kind and secret. Reads the tables completely. */
export async function countValues(query: HotSql): Promise<ValueCount[]> {
  const counts: ValueCount[] = [];
  for (const { name, table, column } of SEALED_COLUMNS) {
    const rows = await query<{ secretId: string; count: number }[]>`
      select split_part(${query(column)}, '.', 3) as "secretId", count(*)::int as count
      from ${query(table)} where ${query(column)} is not null group by 1 order by 1`;
    counts.push(...rows.map((row) => ({ name, ...row })));
  }
  return counts;
}

/** Replaces the values of these rows. */
export async function writeValues(
  tx: HotSql,
  { table, column, id }: SealedColumn,
  values: readonly Pick<StoredValue, "id" | "value">[],
): Promise<void> {
  await tx`
    update ${tx(table)} as stored set ${tx(column)} = fresh.value
    from unnest(${values.map(({ id }) => id)}::uuid[], ${values.map(({ value }) => value)}::text[]) as fresh(id, value)
    where stored.${tx(id)} = fresh.id`;
}
