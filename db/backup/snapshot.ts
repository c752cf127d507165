import type { Readable } from "node:stream";
import type { ReservedSql } from "postgres";
import { type BackupTable, type Catalog, quoteName, quoteNames, readCatalog } from "./catalog";
import { inLongTransaction } from "./session";

/** All tables as they were at one moment. */
export type Snapshot = {
  catalog: Catalog;
  /** Queries of the snapshot, before the first table is read. */
  query: Pick<ReservedSql, "unsafe">;
  /**
   * The rows in PostgreSQL's text format of `COPY`, one per line. Read one table to its end before the next.
   */
  readTable(table: BackupTable): Promise<Readable>;
};

/**
 * Runs a task with a snapshot of the database, while other connections read and write. Its tables cannot be
 * dropped meanwhile. The snapshot blocks no writer, but a migration waits for it, and vacuum keeps the rows
 * that it can see.
 */
export const readSnapshot = <T>(url: string, task: (snapshot: Snapshot) => Promise<T>): Promise<T> =>
  inLongTransaction(
    url,
    { mode: "isolation level repeatable read, read only", name: "backstamp backup" },
    async (tx, resume) => {
      const catalog = await readCatalog(tx);
      const names = catalog.tables.map(({ name }) => name);
      if (names.length > 0) await tx.unsafe(`lock table ${quoteNames(names)} in access share mode`);
      return task({
        catalog,
        query: tx,
        // `COPY` of a partitioned table does not include its partitions, but a query does.
        readTable: async ({ name, columns, isPartitioned }) => {
          const source = isPartitioned
            ? `(select ${quoteNames(columns)} from ${quoteName(name)})`
            : `${quoteName(name)} (${quoteNames(columns)})`;
          const rows = await tx.unsafe(`copy ${source} to stdout`).readable();
          return rows.once("end", resume);
        },
      });
    },
  );
