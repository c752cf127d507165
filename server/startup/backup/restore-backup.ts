import type postgres from "postgres";
import { listTables, quoteName } from "#db/backup/catalog";
import { loadBackup } from "#db/backup/load";
import { RELEASE } from "#db/compatibility";
import { listOwnTables, migrateDatabase, readMigrations } from "#db/migrate";
import { cli, startCommandOf } from "#server/platform/env/cli";
import { newId } from "#server/platform/ids";
import { type Held, holdRestored } from "#server/services/restores/hold";
import { withConnection } from "../install/with-connection";
import { OperatorError } from "../launcher/operator-error";
import type { Header } from "./format";
import { readArchive } from "./read-archive";

export type RestoreInput = {
  databaseUrl: string;
  isDatabasePooled: boolean;
  file: string;
  /** Null for a backup that is not encrypted. */
  passphrase: string | null;
  /** The verified header. */
  header: Header;
};

export type RestoredDatabase = Held & {
  rows: number;
  /** Tables of the backup that Backstamp did not create, and that were not restored. */
  skipped: string[];
};

/**
 * Restores a verified backup into an empty database: creates the schema of the backup, loads all rows in one
 * transaction, holds what was about to be sent, and migrates to this release. Programs that start meanwhile
 * wait. Call `requireRestorable` before. After a failure the database has no rows, and the same command can
 * be repeated; or it has all of them, and the message says what is left to do.
 */
export async function restoreBackup(input: RestoreInput): Promise<RestoredDatabase> {
  const { databaseUrl, header, file, passphrase } = input;
  const result: RestoredDatabase = { rows: 0, held: 0, unknown: 0, deletions: [], skipped: [] };
  let isLoaded = false;
  const load = async () => {
    await loadBackup(databaseUrl, header, {
      check: requireEmpty,
      own: listOwnTables(),
      load: async ({ tables, loadRows }) => {
        const columnsOf = new Map(header.tables.map(({ name, columns }) => [name, columns]));
        const { checksums } = await readArchive(file, passphrase, {
          rows: async (table, rows) => {
            const columns = columnsOf.get(table) ?? [];
            if (tables.has(table)) await loadRows(table, columns, rows);
            else for await (const _ of rows);
          },
        });
        for (const [table, { rows }] of Object.entries(checksums))
          if (tables.has(table)) result.rows += rows;
          else if (rows > 0) result.skipped.push(table);
      },
      complete: async ({ tx }) => {
        Object.assign(result, await holdRestored(tx));
        await tx.unsafe("insert into restores (id, taken_at, release, held) values ($1, $2, $3, $4)", [
          newId(),
          header.takenAt,
          header.release,
          result.held,
        ]);
      },
    });
    isLoaded = true;
  };
  const { isDatabasePooled: pooled } = input;
  try {
    await migrateDatabase(databaseUrl, {
      pooled,
      load: { at: header.migrations.map(({ at }) => at), run: load },
    });
    // Only for speed: autovacuum does the same later.
    await withConnection(databaseUrl, 10, (sql) => sql`analyze`).catch(() => {});
  } catch (cause) {
    if (!isLoaded) throw cause;
    throw new OperatorError(
      `The rows are restored (held deliveries: ${result.held}), but a later step failed: ${(cause as Error).message}\n` +
        `Do not restore again. Run ${cli} migrate, then start Backstamp: ${startCommandOf("start")}`,
      { cause },
    );
  }
  return result;
}

/** OperatorError if this build does not have every migration of the backup, or the database is in use. */
export async function requireRestorable(
  url: string,
  { migrations, release }: Pick<Header, "migrations" | "release">,
): Promise<void> {
  const { known, applied } = await readMigrations(url);
  const isKnown = (hash: string) => known.some((migration) => migration.hash === hash);
  if (!migrations.every(({ hash }) => isKnown(hash)))
    throw new OperatorError(
      `The backup was made by Backstamp ${release}, whose database is newer than that of this release (${RELEASE}). Install the release of the backup or a newer one.`,
    );
  if (applied.length === 0) return withConnection(url, 10, requireNoTables);
  await withConnection(url, 10, requireEmpty);
  // Its schema is complete after an interrupted restore, or that of an older release.
  if (!applied.every(({ hash }) => migrations.some((migration) => migration.hash === hash)))
    throw new OperatorError(
      "The database has the tables of a newer release than the backup. Restore into a new, empty database.",
    );
}

/** Without a migration of Backstamp, each table belongs to another program. */
async function requireNoTables(sql: Pick<postgres.Sql, "unsafe">): Promise<void> {
  const names = await listTables(sql);
  if (names.length === 0) return;
  const shown = names.slice(0, shownMax).join(", ");
  const rest = names.length > shownMax ? ` and ${names.length - shownMax} more` : "";
  throw new OperatorError(
    `The database contains tables of another program: ${shown}${rest}. Nothing was changed. Restore into a new, empty database (DATABASE_URL).`,
  );
}

const shownMax = 5;

const USED = ["teams", "users", "emails"];

async function requireEmpty(sql: Pick<postgres.Sql, "unsafe">): Promise<void> {
  const parts = USED.map((name) => `exists (select from ${quoteName(name)})`);
  const [row] = await sql.unsafe<{ isUsed: boolean }[]>(`select ${parts.join(" or ")} as "isUsed"`);
  if (row?.isUsed)
    throw new OperatorError(
      "The database already contains an installation, and a restore never overwrites one. Restore into a new data directory (BACKSTAMP_DATA_DIR) or a new, empty database (DATABASE_URL).",
    );
}
