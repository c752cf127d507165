import {
  access,
  chmod,
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  statfs,
} from "node:fs/promises";
import path from "node:path";
import { addAbortSignal, Writable } from "node:stream";
import { type DiskSpace, formatBytes } from "#server/platform/disk";
import { OperatorError } from "../launcher/operator-error";

/** Fills and ends a stream. */
export type FillBackup = (output: Writable) => Promise<void>;

type DiskEffects = { readDiskSpace(folder: string): Promise<DiskSpace> };

const NAME = /^backstamp-\d{8}T\d{9}Z\.tar\.gz(\.age)?$/;
const PARTIAL = /\.\d+\.partial$/;
/** Short, because each attempt of a process that is killed leaves a file as large as the disk permits. */
const silentMsMax = 10 * 60 * 1_000;
/** Free space that a backup leaves: the database stops if it is on the same disk and that is full. */
const freeBytesMin = 1024 ** 3;
const freeShareMin = 0.05;
/** Other programs write to the disk, too, so the space is read again after this many bytes. */
const checkedEveryBytes = 4 * 1024 ** 2;

/** The name of a scheduled backup. Names in alphabetical order are in the order of time. */
export const nameOfBackup = (takenAt: Date, isEncrypted: boolean): string =>
  `backstamp-${takenAt.toISOString().replaceAll(/[-:.]/g, "")}.tar.gz${isEncrypted ? ".age" : ""}`;

/** Creates the folder of scheduled backups if it is missing. OperatorError if it cannot be written to. */
export async function openBackupFolder(folder: string): Promise<void> {
  const fault = await findFolderFault(folder);
  if (fault !== null) throw new OperatorError(fault);
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Deletes what scheduled backups left whose process was killed. */
export async function deleteAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!PARTIAL.test(name) || !NAME.test(name.replace(PARTIAL, ""))) continue;
    const file = path.join(folder, name);
    if (Date.now() - (await stat(file)).mtimeMs > silentMsMax) await rm(file);
  }
}

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

/** The file systems of /proc and /sys (statfs(2)), which contain no files of users. */
const PSEUDO = new Set([0x9fa0, 0x62656572]);

/**
 * Why backups cannot be written to a folder, which may not exist yet, and what to do; null if they can. Below
 * /proc, Node would create the folder again and again without end.
 */
export async function findFolderFault(folder: string): Promise<string | null> {
  const advice = "Choose a folder on a disk that this user can write to.";
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    try {
      if (!(await stat(place)).isDirectory()) return `${place} is not a folder. ${advice}`;
      await access(place, constants.W_OK | constants.X_OK);
      if (PSEUDO.has((await statfs(place)).type)) return `${place} is not on a disk. ${advice}`;
      return null;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "";
      if (code === "ENOENT" && place !== path.dirname(place)) continue;
      return `${folder} cannot be written: ${REASONS[code] ?? code}. ${advice}`;
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EROFS: "its disk is mounted read-only",
  EACCES: "this user is not permitted to",
  EPERM: "this user is not permitted to",
  ENOTDIR: "a part of the path is a file",
};

/** Deletes what a backup to this file left whose process was killed. */
export async function deletePartials(file: string): Promise<void> {
  const folder = path.dirname(file);
  for (const name of await readdir(folder))
    if (PARTIAL.test(name) && name.replace(PARTIAL, "") === path.basename(file))
      await rm(path.join(folder, name), { force: true });
}

/**
 * Fills a new file, mode 0600. It appears under its name only when it is complete and on disk; after an error
 * or the signal, nothing remains. OperatorError if the file exists or cannot be created, or its disk is
 * nearly full. Returns its size in bytes.
 */
export async function writeBackupFile(
  file: string,
  fill: FillBackup,
  signal: AbortSignal,
  { readDiskSpace }: DiskEffects,
): Promise<number> {
  if (await stat(file).catch(() => null))
    throw new OperatorError(`${file} exists. Choose another name, or delete it first.`);
  const folder = path.dirname(file);
  const partial = `${file}.${process.pid}.partial`;
  const handle = await open(partial, "w", 0o600).catch(async (cause: NodeJS.ErrnoException) => {
    const isFull = ["ENOSPC", "EDQUOT"].includes(cause.code ?? "");
    throw isFull
      ? diskFull(folder, "is full", cause)
      : new OperatorError(
          (await findFolderFault(folder)) ?? `${folder} does not exist. Create it, or choose another folder.`,
          { cause },
        );
  });
  const requireSpace = async () => {
    const { freeBytes, totalBytes } = await readDiskSpace(folder);
    const leftBytes = Math.min(freeBytesMin, totalBytes * freeShareMin);
    if (freeBytes < leftBytes)
      throw diskFull(
        folder,
        `has ${formatBytes(freeBytes)} free, and a backup leaves ${formatBytes(leftBytes)}`,
      );
  };
  try {
    await chmod(partial, 0o600);
    await requireSpace();
    const output = writeTo(handle, requireSpace);
    // The writer receives the error.
    output.on("error", () => {});
    await fill(addAbortSignal(signal, output));
    const { size } = await handle.stat();
    await handle.sync();
    await handle.close();
    await rename(partial, file);
    await syncFolder(folder);
    return size;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(partial, { force: true });
    if (["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw diskFull(folder, "is full", error);
    throw error;
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

const diskFull = (folder: string, state: string, cause?: unknown) =>
  new OperatorError(
    `The disk of ${folder} ${state}. Delete files, keep fewer backups (BACKSTAMP_BACKUP_KEEP), or write them to another disk.`,
    { cause },
  );

/** Without it, a power failure could undo a rename. Not every file system supports that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().catch(() => {});
  await handle.close();
}
