import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { ARRAY_TYPES } from "#db/postgres-js/array-types";
import type { Ctx } from "#server/deps";

type Reads = { buffers: number; rows: number; seqRows: number };

/**
 * What was read of the partitions of `emails` and `deliveries`: buffers of 8 KiB, cached or
 * not, rows that an index found, and rows that a sequential scan read.
 */
export type ReadCounter = {
  /** The context on the one connection that is counted. */
  ctx: Ctx;
  countReads<T>(run: (ctx: Ctx) => Promise<T>): Promise<Reads & { result: T }>;
  close(): Promise<void>;
};

/** PostgreSQL counts per partition, so no other connection may read the database meanwhile. */
export function openReadCounter(url: string, given: Ctx): ReadCounter {
  const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false, types: ARRAY_TYPES });
  const ctx: Ctx = { ...given, db: drizzle(sql, { casing: "snake_case" }) };
  const read = async (): Promise<Reads> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<Reads[]>`
      select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0))::int as buffers,
        sum(t.idx_tup_fetch)::int as rows, sum(t.seq_tup_read)::int as "seqRows"
      from pg_statio_user_tables s join pg_stat_user_tables t using (relid)
        join pg_inherits i on i.inhrelid = s.relid
      where i.inhparent::regclass::text in ('emails', 'deliveries')`;
    if (!row) throw new Error("PostgreSQL counts no reads.");
    return row;
  };
  return {
    ctx,
    async countReads(run) {
      const before = await read();
      const result = await run(ctx);
      const after = await read();
      return {
        result,
        buffers: after.buffers - before.buffers,
        rows: after.rows - before.rows,
        seqRows: after.seqRows - before.seqRows,
      };
    },
    close: () => sql.end({ timeout: 5 }),
  };
}
