import type { HotSql } from "#db/client";

/**
 * How much a function reads of the queue, or of another table with its partitions: rows of sequential scans,
 * and rows fetched by an index, as PostgreSQL counts them.
 */
export async function countQueueReads<T>(
  hot: HotSql,
  work: (hot: HotSql) => Promise<T>,
  table = "deliveries",
): Promise<{ scans: number; fetched: number; result: T }> {
  return hot.begin(async (tx) => {
    const within = Object.assign(tx, { options: hot.options }) as unknown as HotSql;
    // The counts may still include reads of earlier transactions on this connection.
    const before = await readCounts(within, table);
    const result = await work(within);
    const after = await readCounts(within, table);
    return { scans: after.scans - before.scans, fetched: after.fetched - before.fetched, result };
  }) as Promise<{ scans: number; fetched: number; result: T }>;
}

async function readCounts(hot: HotSql, table: string): Promise<{ scans: number; fetched: number }> {
  const [reads] = await hot<{ scans: number; fetched: number }[]>`
    select sum(seq_tup_read)::int as scans, sum(idx_tup_fetch)::int as fetched
    from pg_stat_xact_user_tables where relname = ${table} or starts_with(relname, ${`${table}_`})`;
  if (!reads) throw new Error("PostgreSQL has no counts for the queue.");
  return reads;
}
