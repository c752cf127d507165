import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Deps } from "#server/deps";
import { measureDiskSpace } from "#server/platform/disk";
import type { Settings } from "#server/platform/env/settings";
import {
  type BackupTarget,
  beatBackup,
  completeBackup,
  failBackup,
  failSilentBackups,
  releaseBackup,
} from "#server/services/backups/record";
import { explainDatabaseFault } from "../install/database-faults";
import { OperatorError } from "../launcher/operator-error";
import { deleteOldBackups, deletePartials, findFolderFault, writeBackupFile } from "./backup-folder";
import { type CreatedBackup, createBackup } from "./create-backup";

const beatMs = 20_000;
/** A backup to which nothing was written for this long does not count as running, and is ended. */
const stalledMsMax = 10 * 60_000;

type BackupDeps = Pick<Deps, "db"> & { measureDiskSpace?: typeof measureDiskSpace };
type BackupSettings = Pick<Settings, "dataDir" | "secret" | "oldSecrets"> & {
  databaseUrl: string;
  /** Null: the backup is not encrypted and contains no secrets. */
  passphrase: string | null;
};
export type MadeBackup = CreatedBackup & { file: string; sizeBytes: number };

/**
 * Makes a backup that is recorded under this id, and records how it ended. A failure is thrown. After the
 * signal, nothing remains of the backup.
 */
export async function makeBackup(
  deps: BackupDeps,
  { id, location, name }: BackupTarget & { id: string },
  settings: BackupSettings,
  signal: AbortSignal,
  /** For the complete file. Returns a fault that is recorded with the complete backup, or null. */
  finish: () => Promise<string | null> = async () => null,
): Promise<MadeBackup> {
  let progressedMs = performance.now();
  const beat = setInterval(() => {
    // Without a heartbeat, a scheduled backup is due again, and the worker ends this process.
    if (performance.now() - progressedMs < stalledMsMax) void beatBackup(deps, id).catch(() => {});
  }, beatMs);
  try {
    for (const killed of await failSilentBackups(deps))
      await deletePartials(path.join(killed.location, killed.name)).catch(() => {});
    const file = path.join(location, name);
    const { sizeBytes, result } = await writeBackupFile(
      file,
      (output) => {
        output.on("drain", () => {
          progressedMs = performance.now();
        });
        return createBackup(settings, output);
      },
      signal,
      { measureDiskSpace, ...deps },
    );
    await completeBackup(deps, id, { sizeBytes, hasSecret: result.hasSecret, fault: await finish() });
    return { ...result, file, sizeBytes };
  } catch (error) {
    // Another process can make it at once.
    if (signal.aborted) await releaseBackup(deps, id);
    else await failBackup(deps, id, reasonOf(error));
    throw error;
  } finally {
    clearInterval(beat);
  }
}

/**
 * Makes a claimed backup of the schedule in its folder, which is created if it is missing, and deletes old
 * ones. `deletionFault`: why old ones could not be deleted, or null.
 */
export async function makeScheduledBackup(
  deps: BackupDeps,
  target: BackupTarget & { id: string },
  settings: BackupSettings & { keep: number },
  signal: AbortSignal,
): Promise<MadeBackup & { deleted: string[]; deletionFault: string | null }> {
  const { location: folder, name: newest } = target;
  if ((await findFolderFault(folder)) === null) await mkdir(folder, { mode: 0o700 }).catch(() => {});
  let deleted: string[] = [];
  let deletionFault: string | null = null;
  const made = await makeBackup(deps, target, settings, signal, async () => {
    try {
      deleted = await deleteOldBackups(folder, { newest, count: settings.keep });
    } catch (error) {
      deletionFault = `Old backups could not be deleted: ${reasonOf(error)}`;
    }
    return deletionFault;
  });
  return { ...made, deleted, deletionFault };
}

/** Why a backup failed, for the operator. */
function reasonOf(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  const { message, code } = error as NodeJS.ErrnoException;
  return explainDatabaseFault(error) ?? [message, code].filter(Boolean).join(" ");
}
