import { readFile } from "node:fs/promises";

const pollMs = 500;

/**
 * Calls `gone` once when the package manager that started this process has exited, or a shell between the two. Some
 * of them exit on a signal without forwarding it. Does nothing if no package manager started this process.
 */
export async function onPackageManagerGone(gone: () => void): Promise<void> {
  const links = await readLinks();
  if (links.length === 0) return;
  const timer = setInterval(async () => {
    for (const { child, parent } of links) {
      if ((await parentOf(child)) === parent) continue;
      clearInterval(timer);
      return gone();
    }
  }, pollMs);
  timer.unref();
}

/** The processes from this one up to the package manager, with their parents. It sets npm_lifecycle_event for its children. */
async function readLinks(): Promise<{ child: number; parent: number }[]> {
  const links: { child: number; parent: number }[] = [];
  for (let child = process.pid; await isRunByPackageManager(child); ) {
    const parent = await parentOf(child);
    if (parent === null || parent <= 1) break;
    links.push({ child, parent });
    child = parent;
  }
  return links;
}

async function isRunByPackageManager(pid: number): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return environment.split("\0").some((entry) => entry.startsWith("npm_lifecycle_event="));
}

async function parentOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (status === null) return null;
  // The program's name is in parentheses and can contain any character.
  return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
}
