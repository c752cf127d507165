import { createHash, hkdfSync } from "node:crypto";
import { z } from "zod";

/*
 * The format of a backup: a tar archive, compressed with gzip and, with a passphrase, encrypted with age
 * (https://age-encryption.org/v1). Its entries, in this order:
 *
 * backup.json what the backup contains, and what is needed to restore it secrets.json the installation's
 * secrets; only in an encrypted backup tables/NAME/000001.copy the rows of a table, in PostgreSQL's text
 * format of COPY, in parts checksums.json the number of rows and the SHA-256 of each table; missing if the
 * backup is incomplete
 */
export const formatVersion = 1;
export const HEADER = "backup.json";
export const SECRETS = "secrets.json";
export const CHECKSUMS = "checksums.json";

const Named = z.object({ name: z.string() });

/** The first entry. `secretId` identifies the secret that opens the sealed values, without disclosing it. */
export const Header = z.object({
  format: z.number().int(),
  release: z.string(),
  installationId: z.string().nullable(),
  secretId: z.string().nullable(),
  postgres: z.string(),
  takenAt: z.iso.datetime(),
  tables: z.array(Named.extend({ columns: z.array(z.string()), isPartitioned: z.boolean() })),
  partitions: z.array(
    Named.extend({ parent: z.string(), bound: z.string(), options: z.array(z.string()).nullable() }),
  ),
  sequences: z.array(Named.extend({ value: z.string() })),
  migrations: z.array(z.object({ hash: z.string(), at: z.string() })),
});
export type Header = z.infer<typeof Header>;

export const Checksums = z.record(z.string(), z.object({ rows: z.number(), sha256: z.string() }));
export type Checksums = z.infer<typeof Checksums>;

/** The generated secrets of the data directory, of this or a later release, with the secrets in use. */
export const BackupSecrets = z.looseObject({
  secret: z.string(),
  oldSecrets: z.array(z.string()).optional(),
});
export type BackupSecrets = z.infer<typeof BackupSecrets>;

const partName = /^tables\/([^/]+)\/\d+\.copy$/;

export const nameOfPart = (table: string, part: number): string =>
  `tables/${encodeURIComponent(table)}/${String(part).padStart(6, "0")}.copy`;

/** The table of an entry with rows; null for another entry. */
export function tableOfPart(entry: string): string | null {
  const [, table] = partName.exec(entry) ?? [];
  return table === undefined ? null : decodeURIComponent(table);
}

/**
 * Identifies a secret, so that a restore with another one is detected. 64 bits of a derived key disclose
 * nothing of it.
 */
export const idOfSecret = (secret: string): string =>
  Buffer.from(hkdfSync("sha256", secret, "backstamp", "backup-secret-id", 8)).toString("hex");

const newline = 0x0a;

/**
 * Counts the rows and the bytes of tables, in the format of `COPY`: each line is a row, and text contains no
 * line breaks.
 */
export function createTally() {
  const tables = new Map<string, { rows: number; hash: ReturnType<typeof createHash> }>();
  return {
    add(table: string, bytes: Uint8Array): void {
      const tally = tables.get(table) ?? { rows: 0, hash: createHash("sha256") };
      tables.set(table, tally);
      tally.hash.update(bytes);
      for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) tally.rows++;
    },
    sum: (): Checksums =>
      Object.fromEntries(
        [...tables].map(([table, { rows, hash }]) => [table, { rows, sha256: hash.copy().digest("hex") }]),
      ),
  };
}
