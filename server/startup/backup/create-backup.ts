import type { Writable } from "node:stream";
import { readSnapshot, type Snapshot } from "#db/backup/snapshot";
import { RELEASE } from "#db/compatibility";
import { isSchemaMissing } from "#db/faults";
import { keyIdOf } from "#server/platform/secrets/keyring";
import { findActive, listRegisteredSecrets } from "#server/services/secrets/registry";
import { readGenerated } from "../install/generated";
import { OperatorError } from "../launcher/operator-error";
import { readInstallationId } from "../postgres/cluster-location";
import { formatVersion, idOfSecret } from "./format";
import { writeArchive } from "./write-archive";

export type BackupInput = {
  databaseUrl: string;
  /**
   * Its generated secrets are added: a process that has run since before a rotation has only the former ones.
   */
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
 * Writes all tables as they are at this moment to a stream, while Backstamp runs. OperatorError for a
 * passphrase without the secret that encrypts in this database: an encrypted backup is expected to contain
 * it.
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
  const { secret: kept, oldSecrets: keptOld = [], ...others } = generated;
  const former = [...oldSecrets, ...(kept === undefined ? [] : [kept]), ...keptOld];
  const ring = [...new Set(secret === null ? former : [secret, ...former])];
  const secrets =
    passphrase === null || secret === null ? null : { ...others, secret, oldSecrets: ring.slice(1) };
  return readSnapshot(databaseUrl, async (snapshot) => {
    const { catalog } = snapshot;
    const active = await findActiveSecret(snapshot, ring);
    if (secrets !== null && active === null) throw lacksActive();
    const header = {
      format: formatVersion,
      release: RELEASE,
      installationId,
      secretId: active === null ? null : idOfSecret(active),
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

/**
 * The secret of `ring` that encrypts in this database: the configured one, except during a rotation. Null if
 * the ring lacks it. Until a process has registered a secret, it is the first one.
 */
async function findActiveSecret({ query }: Snapshot, ring: readonly string[]): Promise<string | null> {
  const active = findActive(await listRegisteredSecrets(query));
  return ring.find((secret) => active === null || keyIdOf(secret) === active.id) ?? null;
}

const lacksActive = () =>
  new OperatorError(
    "The secret that encrypts in this database is not configured here, so the backup would lack it. Set BACKSTAMP_SECRET and BACKSTAMP_SECRETS_OLD as the processes of the installation have them.",
  );
