import { addAbortSignal, type Writable } from "node:stream";
import type { DiskSpace } from "#server/platform/disk";

/** Where backups are kept: a folder, or a bucket of an S3-compatible store. */
export type BackupStore = {
  /** For the operator, without credentials. */
  location: string;
  /**
   * Fills and ends a stream. The backup appears under its name only when it is complete; after an error or
   * the signal, nothing remains. Returns its size in bytes.
   */
  write(name: string, fill: FillBackup, signal: AbortSignal): Promise<number>;
  /**
   * Deletes what scheduled backups left whose process was killed. The caller has claimed the backup of this
   * period.
   */
  deleteRemains(): Promise<void>;
  /** The names of all files. */
  list(): Promise<string[]>;
  remove(name: string): Promise<void>;
};

export type FillBackup = (output: Writable) => Promise<void>;

/** What a store depends on beside its files. */
export type StoreEffects = {
  /** The space of the disk of a folder. */
  readDiskSpace(folder: string): Promise<DiskSpace>;
  /** The times after which a failed request to a store is repeated. */
  retryAfterMs: readonly number[];
};

/** Whether a backup to which nothing was written for `silentMsMax` belongs to a process that has exited. */
export const isAbandoned = (writtenAt: Date, silentMsMax: number): boolean =>
  Date.now() - writtenAt.getTime() > silentMsMax;

/** Lets a signal end a stream. The writer receives the error. */
export function abortable<T extends Writable>(output: T, signal: AbortSignal): T {
  output.on("error", () => {});
  return addAbortSignal(signal, output);
}

const NAME = /^backstamp-\d{8}T\d{9}Z\.tar\.gz(\.age)?$/;

/** The name of a scheduled backup. Names in alphabetical order are in the order of time. */
export const nameOfBackup = (takenAt: Date, isEncrypted: boolean): string =>
  `backstamp-${takenAt.toISOString().replaceAll(/[-:.]/g, "")}.tar.gz${isEncrypted ? ".age" : ""}`;

export const isNameOfBackup = (name: string): boolean => NAME.test(name);

/**
 * Deletes all scheduled backups but `newest`, which was just written, and `count - 1` others, and no other
 * files. Returns the names. Deletes nothing if the store does not list `newest`.
 */
export async function deleteOldBackups(
  store: BackupStore,
  { newest, count }: { newest: string; count: number },
): Promise<string[]> {
  const names = await store.list();
  if (!names.includes(newest)) throw new Error(`${store.location} does not list ${newest}.`);
  const others = names.filter((name) => isNameOfBackup(name) && name !== newest).sort();
  const old = others.slice(0, Math.max(0, others.length - (count - 1)));
  for (const name of old) await store.remove(name);
  return old;
}
