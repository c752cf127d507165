import { readFile } from "node:fs/promises";

const lookEveryMs = 500;

/**
 * Calls `gone` once when the package manager that runs us has ended, or a shell or wrapper between it and us: asked to
 * stop, some of them go without passing it on. Does nothing where no package manager runs us.
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
  }, lookEveryMs);
  timer.unref();
}

/** Each process from us up to the package manager, with its parent. Those that it started have its mark in their environment. */
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
  // The program's name stands in brackets and may hold anything.
  return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
}
