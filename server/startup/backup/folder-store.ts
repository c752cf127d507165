import { createWriteStream } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { OperatorError } from "../launcher/operator-error";
import { abortable, type BackupStore, type FillBackup, isAbandoned, isNameOfBackup } from "./store";

const PARTIAL = /\.\d+\.partial$/;
/** Short, because each attempt of a process that is killed leaves a file as large as the disk permits. */
const silentMsMax = 10 * 60 * 1_000;

/** Keeps backups in a folder, which is created if it is missing. */
export const openFolderStore = (folder: string): BackupStore => ({
  location: folder,
  async write(name, fill, signal) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return writeBackupFile(path.join(folder, name), fill, signal);
  },
  async deleteRemains() {
    for (const name of await readdir(folder)) {
      if (!PARTIAL.test(name) || !isNameOfBackup(name.replace(PARTIAL, ""))) continue;
      const file = path.join(folder, name);
      if (isAbandoned((await stat(file)).mtime, silentMsMax)) await rm(file);
    }
  },
  list: () => readdir(folder),
  remove: (name) => rm(path.join(folder, name)),
});

/**
 * Fills a new file, mode 0600. It appears under its name only when it is complete and on disk; after an error or the
 * signal, nothing remains. OperatorError if the file exists or cannot be created. Returns its size in bytes.
 */
export async function writeBackupFile(file: string, fill: FillBackup, signal: AbortSignal): Promise<number> {
  if (await stat(file).catch(() => null))
    throw new OperatorError(`${file} exists. Choose another name, or delete it first.`);
  const partial = `${file}.${process.pid}.partial`;
  await writeFile(partial, "", { mode: 0o600 }).catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(
      `${partial} cannot be created (${cause.code}). Choose a folder that exists and is writable.`,
      { cause },
    );
  });
  try {
    await chmod(partial, 0o600);
    await fill(abortable(createWriteStream(partial), signal));
    const { size } = await stat(partial);
    await syncToDisk(partial);
    await rename(partial, file);
    await syncToDisk(path.dirname(file));
    return size;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Of a folder: without it, a power failure could undo a rename. Not every file system supports that. */
async function syncToDisk(file: string): Promise<void> {
  const handle = await open(file);
  try {
    await handle.sync();
  } catch (error) {
    if (!(await handle.stat()).isDirectory()) throw error;
  } finally {
    await handle.close();
  }
}
