import type { Writable } from "node:stream";
import { readSnapshot } from "#db/backup/snapshot";
import { RELEASE } from "#db/compatibility";
import { isSchemaMissing } from "#db/faults";
import { readGenerated } from "../install/generated";
import { OperatorError } from "../launcher/operator-error";
import { readInstallationId } from "../postgres/cluster-location";
import { formatVersion, idOfSecret } from "./format";
import { writeArchive } from "./write-archive";

export type BackupInput = {
  databaseUrl: string;
  /** Its generated secrets are added. */
  dataDir: string;
  /** The secret in use; null if this process has none. */
  secret: string | null;
  /** The former secrets in use, the newest first. */
  oldSecrets: string[];
  /** Null: the backup is not encrypted and contains no secrets. */
  passphrase: string | null;
};

export type CreatedBackup = { takenAt: Date; tables: number; rows: number; hasSecret: boolean };

/**
 * Writes all tables as they are at this moment to a stream, while Backstamp runs. OperatorError for a passphrase without a
 * secret: an encrypted backup is expected to contain it.
 */
export async function createBackup(
  { databaseUrl, dataDir, secret, oldSecrets, passphrase }: BackupInput,
  output: Writable,
): Promise<CreatedBackup> {
  if (passphrase !== null && secret === null)
    throw new OperatorError(
      "BACKSTAMP_SECRET is not set, so the backup would lack it. Set the secret of the installation, as its processes have it.",
    );
  const generated = await readGenerated(dataDir);
  const installationId = await readInstallationId(dataDir);
  const secrets = passphrase === null || secret === null ? null : { ...generated, secret, oldSecrets };
  return readSnapshot(databaseUrl, async (snapshot) => {
    const { catalog } = snapshot;
    const header = {
      format: formatVersion,
      release: RELEASE,
      installationId,
      secretId: secret === null ? null : idOfSecret(secret),
      ...catalog,
    };
    const checksums = await writeArchive({ header, snapshot, secrets, passphrase }, output);
    return {
      takenAt: new Date(catalog.takenAt),
      tables: catalog.tables.length,
      rows: Object.values(checksums).reduce((sum, { rows }) => sum + rows, 0),
      hasSecret: secrets !== null,
    };
  }).catch((error) => {
    if (!isSchemaMissing(error)) throw error;
    throw new OperatorError(
      "The database does not contain Backstamp's tables, so there is nothing to back up.",
      {
        cause: error,
      },
    );
  });
}
