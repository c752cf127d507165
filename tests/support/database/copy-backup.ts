import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Catalog } from "#db/backup/catalog";
import { loadBackup } from "#db/backup/load";
import { readSnapshot } from "#db/backup/snapshot";

/** What a backup of this database contains, and a function that loads it into another one. */
export async function copyBackup(from: string): Promise<{
  catalog: Catalog;
  load(to: string, own: Parameters<typeof loadBackup>[2]["own"]): Promise<void>;
}> {
  const { catalog, rows } = await readSnapshot(from, async (snapshot) => {
    const rows = new Map<string, string>();
    for (const table of snapshot.catalog.tables)
      rows.set(table.name, await text(await snapshot.readTable(table)));
    return { catalog: snapshot.catalog, rows };
  });
  return {
    catalog,
    load: (to, own) =>
      loadBackup(to, catalog, {
        check: async () => {},
        own,
        load: async ({ loadRows }) => {
          for (const { name, columns } of catalog.tables)
            await loadRows(
              name,
              columns,
              Readable.from(Buffer.from(rows.get(name) ?? ""), { objectMode: false }),
            );
        },
      }),
  };
}
