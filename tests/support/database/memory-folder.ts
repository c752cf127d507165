import { readFileSync, statfsSync } from "node:fs";

const folder = "/dev/shm";
const roomBytesMin = 4 * 1024 ** 3;

/**
 * A folder in memory with room for what a run writes down and throws away; null where the machine has none. A database of a
 * test is hundreds of small files, which a disk takes several times as long to make and to remove.
 */
export function findMemoryFolder(): string | null {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .find(([, place]) => place === folder);
    const [, , kind, options = ""] = mount ?? [];
    // An installation by root copies PostgreSQL's programs to where its database is.
    if (kind !== "tmpfs" || options.split(",").includes("noexec")) return null;
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= roomBytesMin ? folder : null;
  } catch {
    return null;
  }
}
