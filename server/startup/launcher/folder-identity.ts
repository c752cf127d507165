import { realpath, stat } from "node:fs/promises";
import { z } from "zod";

/**
 * A folder by its path without links, and by its device and inode. A move within a file system keeps the
 * inode; a copy does not.
 */
export const FolderIdentity = z.object({ path: z.string(), inode: z.string() });
export type FolderIdentity = z.infer<typeof FolderIdentity>;

export async function identifyFolder(folder: string): Promise<FolderIdentity> {
  const { dev, ino } = await stat(folder, { bigint: true });
  return { path: await realpath(folder), inode: `${dev}:${ino}` };
}

/**
 * Whether both are the same folder, possibly moved. Either half is enough: a machine that was copied as a
 * whole has the same paths and other inodes, and some network file systems do not keep inode numbers.
 */
export const isSameFolder = (one: FolderIdentity, other: FolderIdentity): boolean =>
  one.path === other.path || one.inode === other.inode;
