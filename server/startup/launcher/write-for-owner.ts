import { open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Creates a file that the owner of its folder can read, also if this process runs as root. The folder can
 * belong to an unprivileged user, so an existing file or link is an error, and the owner is set on the open
 * file instead of its path.
 */
export async function writeForOwner(file: string, text: string): Promise<void> {
  const { uid, gid } = await stat(path.dirname(file));
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(text);
    if (process.getuid?.() === 0) await handle.chown(uid, gid);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file atomically by such a file: a crash leaves the old one or the new one. */
export async function replaceForOwner(file: string, text: string): Promise<void> {
  const fresh = `${file}.${process.pid}`;
  await rm(fresh, { force: true });
  await writeForOwner(fresh, text);
  await rename(fresh, file);
}
