import { access, constants, type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { addAbortSignal, Writable } from "node:stream";
import { type DiskSpace, formatBytes } from "#server/platform/disk";
import { OperatorError } from "../launcher/operator-error";

type DiskEffects = { measureDiskSpace(folder: string): Promise<DiskSpace> };

const NAME = /^backstamp-\d{8}T\d{9}Z\.tar\.gz(\.age)?$/;
const PARTIAL = /\.\d+\.partial$/;
/** Free space that a backup leaves: the database stops if it is on the same disk and that is full. */
const freeBytesMin = 1024 ** 3;
const freeShareMin = 0.05;
/** Other programs write to the disk, too, so the space is read again after this many bytes. */
const checkedEveryBytes = 4 * 1024 ** 2;

/** The name of a scheduled backup. Names in alphabetical order are in the order of time. */
export const nameOfBackup = (takenAt: Date, isEncrypted: boolean): string =>
  `backstamp-${takenAt.toISOString().replaceAll(/[-:.]/g, "")}.tar.gz${isEncrypted ? ".age" : ""}`;

/**
 * Deletes all scheduled backups but `newest`, which was just written, and `count - 1` others, and no other
 * files. Returns the names. Deletes nothing if the folder does not list `newest`.
 */
export async function deleteOldBackups(
  folder: string,
  { newest, count }: { newest: string; count: number },
): Promise<string[]> {
  const names = await readdir(folder);
  if (!names.includes(newest)) throw new Error(`${folder} does not list ${newest}.`);
  const others = names.filter((name) => NAME.test(name) && name !== newest).sort();
  const old = others.slice(0, Math.max(0, others.length - (count - 1)));
  for (const name of old) await rm(path.join(folder, name));
  return old;
}

/** Deletes what a backup to this file left whose process was killed. */
export async function deletePartials(file: string): Promise<void> {
  const folder = path.dirname(file);
  for (const name of await readdir(folder))
    if (PARTIAL.test(name) && name.replace(PARTIAL, "") === path.basename(file))
      await rm(path.join(folder, name), { force: true });
}

/**
 * Why backups cannot be written to a folder, which can be missing if its parent exists, and what to do; null
 * if they can.
 */
export async function findFolderFault(folder: string): Promise<string | null> {
  const advice = "Choose a folder on a disk that this user can write to.";
  const parent = path.dirname(path.resolve(folder));
  const place = (await stat(folder).catch(() => null)) ? folder : parent;
  try {
    if (!(await stat(place)).isDirectory()) return `${place} is not a folder. ${advice}`;
    await access(place, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    return `${folder} cannot be written: ${REASONS[code] ?? code}. ${advice}`;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its parent does not exist",
  EROFS: "its disk is mounted read-only",
  EACCES: "this user is not permitted to",
  EPERM: "this user is not permitted to",
  ENOTDIR: "a part of the path is a file",
};

/**
 * Fills a new file, mode 0600. It appears under its name only when it is complete and on disk; after an error
 * or the signal, nothing remains. OperatorError if the file exists or cannot be created, or its disk is
 * nearly full. Returns its size, and what `fill` returned, which ends the stream.
 */
export async function writeBackupFile<T>(
  file: string,
  fill: (output: Writable) => Promise<T>,
  signal: AbortSignal,
  { measureDiskSpace }: DiskEffects,
): Promise<{ sizeBytes: number; result: T }> {
  if (await stat(file).catch(() => null))
    throw new OperatorError(`${file} exists. Choose another name, or delete it first.`);
  const folder = path.dirname(file);
  const partial = `${file}.${process.pid}.partial`;
  const handle = await open(partial, "w", 0o600).catch(async (cause: NodeJS.ErrnoException) => {
    if (isFull(cause)) throw diskFull(folder, "is full", cause);
    const fault = await findFolderFault(folder);
    throw new OperatorError(fault ?? `${folder} does not exist. Create it, or choose another folder.`, {
      cause,
    });
  });
  const requireSpace = async () => {
    const { freeBytes, totalBytes } = await measureDiskSpace(folder);
    const leftBytes = Math.min(freeBytesMin, totalBytes * freeShareMin);
    if (freeBytes < leftBytes)
      throw diskFull(
        folder,
        `has ${formatBytes(freeBytes)} free, and a backup leaves ${formatBytes(leftBytes)}`,
      );
  };
  try {
    await requireSpace();
    const output = writeTo(handle, requireSpace);
    // The writer receives the error.
    output.on("error", () => {});
    const result = await fill(addAbortSignal(signal, output));
    const { size: sizeBytes } = await handle.stat();
    await handle.sync();
    await handle.close();
    await rename(partial, file);
    await syncFolder(folder);
    return { sizeBytes, result };
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(partial, { force: true });
    throw isFull(error) ? diskFull(folder, "is full", error) : error;
  }
}

function writeTo(handle: FileHandle, requireSpace: () => Promise<void>): Writable {
  let uncheckedBytes = 0;
  const write = async (chunk: Buffer) => {
    uncheckedBytes += chunk.length;
    if (uncheckedBytes >= checkedEveryBytes) {
      uncheckedBytes = 0;
      await requireSpace();
    }
    await handle.writeFile(chunk);
  };
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      write(chunk).then(() => done(), done);
    },
  });
}

const isFull = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");

const diskFull = (folder: string, state: string, cause?: unknown) =>
  new OperatorError(
    `The disk of ${folder} ${state}. Delete files, keep fewer backups (BACKSTAMP_BACKUP_PLAN), or write them to another disk.`,
    { cause },
  );

/** Without it, a power failure could undo a rename. Not every file system supports that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().catch(() => {});
  await handle.close();
}
