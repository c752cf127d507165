import { type ReadText, readStatus, readText } from "./process-info";

const pollMs = 500;

/**
 * Calls `gone` once when the package manager that started this process has exited, or a shell between the
 * two. Some of them exit on a signal without forwarding it. Does nothing if no package manager started this
 * process.
 */
export async function onPackageManagerGone(gone: () => void, read: ReadText = readText): Promise<void> {
  const links = await readLinks(read);
  if (links.length === 0) return;
  const timer = setInterval(async () => {
    for (const { child, parent } of links) {
      const isSame = await readStatus(child, read).then(
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
async function readLinks(read: ReadText): Promise<{ child: number; parent: number }[]> {
  const links: { child: number; parent: number }[] = [];
  for (let child = process.pid; await isRunByPackageManager(child, read); ) {
    const { parent = 0 } = (await readStatus(child, read).catch(() => null)) ?? {};
    if (parent <= 1) break;
    links.push({ child, parent });
    child = parent;
  }
  return links;
}

async function isRunByPackageManager(pid: number, read: ReadText): Promise<boolean> {
  const environment = await read(`/proc/${pid}/environ`).catch(() => "");
  return environment.split("\0").some((entry) => entry.startsWith("npm_lifecycle_event="));
}
