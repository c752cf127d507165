import { readFile } from "node:fs/promises";
import { readStatus } from "./process-info";

const pollMs = 500;

/**
 * Calls `gone` once when the package manager that started this process has exited, or a shell between the
 * two. Some of them exit on a signal without forwarding it. Does nothing if no package manager started this
 * process.
 */
export async function onPackageManagerGone(gone: () => void): Promise<void> {
  const links = await readLinks();
  if (links.length === 0) return;
  const timer = setInterval(async () => {
    for (const { child, parent } of links) {
      const isSame = await readStatus(child).then(
        (status) => status?.parent === parent,
        () => true,
      );
      if (isSame) continue;
      clearInterval(timer);
      return gone();
    }
  }, pollMs);
  timer.unref();
}

/**
 * The processes from this one up to the package manager, with their parents. It sets npm_lifecycle_event for
 * its children.
 */
async function readLinks(): Promise<{ child: number; parent: number }[]> {
  const links: { child: number; parent: number }[] = [];
  for (let child = process.pid; await isRunByPackageManager(child); ) {
    const { parent = 0 } = (await readStatus(child).catch(() => null)) ?? {};
    if (parent <= 1) break;
    links.push({ child, parent });
    child = parent;
  }
  return links;
}

async function isRunByPackageManager(pid: number): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return environment.split("\0").some((entry) => entry.startsWith("npm_lifecycle_event="));
}
