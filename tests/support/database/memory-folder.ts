import { readFileSync, statfsSync } from "node:fs";

const folder = "/dev/shm";
const roomBytesMin = 4 * 1024 ** 3;

/** Temporary data of this process and its children goes to memory, if the machine has a folder for it. */
export function moveTempToMemory(): void {
  const found = findMemoryFolder();
  if (found !== null) process.env.TMPDIR ??= found;
}

/**
 * A folder in memory with room for the temporary data of a run; null if the machine has none. A test database
 * is hundreds of small files, which take several times as long to create and to delete on a disk.
 */
function findMemoryFolder(): string | null {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .find(([, place]) => place === folder);
    const [, , kind, options = ""] = mount ?? [];
    // An installation by root copies PostgreSQL's programs to the folder of its database.
    if (kind !== "tmpfs" || options.split(",").includes("noexec")) return null;
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= roomBytesMin ? folder : null;
  } catch {
    return null;
  }
}
