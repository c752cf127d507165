import path from "node:path";
import type { Deps } from "#server/deps";
import { readDiskSpace } from "#server/platform/disk";
import type { Settings } from "#server/platform/env/settings";
import {
  beatBackup,
  claimBackup,
  completeBackup,
  type FinishedBackup,
  failBackup,
  recordDeletionFault,
  releaseBackup,
} from "#server/services/backups/record";
import { explainDatabaseFault } from "../install/database-faults";
import { OperatorError } from "../launcher/operator-error";
import {
  deleteAbandoned,
  deleteOldBackups,
  type FillBackup,
  nameOfBackup,
  openBackupFolder,
  writeBackupFile,
} from "./backup-folder";
import { createBackup } from "./create-backup";
import { readPassphrase } from "./passphrase";

export const beatMs = 20_000;
/** A backup to which nothing was written for this long does not count as running, and is ended. */
const stalledMsMax = 10 * 60_000;

type ScheduledSettings = Pick<Settings, "backup" | "dataDir" | "secret" | "oldSecrets"> & {
  databaseUrl: string;
};
export type ScheduledBackup = FinishedBackup & {
  location: string;
  deleted: string[];
  /** Why old backups could not be deleted; null if there is no such fault. */
  deletionFault: string | null;
};

/**
 * Makes the backup of the current period and deletes old ones. Null if it is not due or another process makes
 * it. A failure is recorded with its reason and thrown; it is repeated later. A failed deletion is recorded
 * with the completed backup. After the signal, nothing remains of the backup.
 */
export async function runScheduledBackup(
  deps: Pick<Deps, "db" | "clock"> & { readDiskSpace?: typeof readDiskSpace },
  settings: ScheduledSettings,
  signal: AbortSignal,
): Promise<ScheduledBackup | null> {
  const { backup, databaseUrl, dataDir, secret, oldSecrets } = settings;
  const { folder } = backup;
  if (folder === null) throw new OperatorError("BACKSTAMP_BACKUP_TO is not set. Set a folder.");
  const id = await claimBackup(deps, backup.everyHours, folder);
  if (id === null) return null;
  let progressedMs = performance.now();
  const beat = setInterval(() => {
    // Without a heartbeat, the backup is due again, and the worker ends this process.
    if (performance.now() - progressedMs < stalledMsMax) void beatBackup(deps, id).catch(() => {});
  }, beatMs);
  let made: FinishedBackup;
  try {
    await openBackupFolder(folder);
    await deleteAbandoned(folder);
    const passphrase = await readPassphrase(settings);
    const name = nameOfBackup(deps.clock(), passphrase !== null);
    let hasSecret = false;
    const fill: FillBackup = async (output) => {
      output.on("drain", () => {
        progressedMs = performance.now();
      });
      ({ hasSecret } = await createBackup({ databaseUrl, dataDir, secret, oldSecrets, passphrase }, output));
    };
    const file = path.join(folder, name);
    const sizeBytes = await writeBackupFile(file, fill, signal, { readDiskSpace, ...deps });
    made = { name, sizeBytes, hasSecret };
    await completeBackup(deps, id, made);
  } catch (error) {
    // Another process can make it at once.
    if (signal.aborted) await releaseBackup(deps, id);
    else await failBackup(deps, id, reasonOf(error));
    throw error;
  } finally {
    clearInterval(beat);
  }
  const result = { ...made, location: folder, deleted: [] as string[], deletionFault: null };
  try {
    return { ...result, deleted: await deleteOldBackups(folder, { newest: made.name, count: backup.keep }) };
  } catch (error) {
    const deletionFault = `Old backups could not be deleted: ${reasonOf(error)}`;
    await recordDeletionFault(deps, id, deletionFault);
    return { ...result, deletionFault };
  }
}

/** Why a backup failed, for the operator. */
export function reasonOf(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  const { message, code } = error as NodeJS.ErrnoException;
  return explainDatabaseFault(error) ?? [message, code].filter(Boolean).join(" ");
}
