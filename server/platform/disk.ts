import { statfs } from "node:fs/promises";

/** Free and total bytes of a file system. `freeBytes` is what a process without special rights can use. */
export type DiskSpace = { freeBytes: number; totalBytes: number };

/** Limits of a nearly full disk. PostgreSQL stops when its disk is full. */
const freeShareMin = 0.05;
const freeBytesMin = 2 * 1024 ** 3;

/** Reads the space of the file system that contains `folder`. */
export async function measureDiskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Whether less than 5% is free, or less than 2 GiB of a disk that is larger than that. */
export const isNearlyFull = ({ freeBytes, totalBytes }: DiskSpace): boolean =>
  freeBytes < totalBytes * freeShareMin || (freeBytes < freeBytesMin && totalBytes > 4 * freeBytesMin);

/** For example `1.4 GiB`. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)), units.length - 1);
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
