import { chown, readFile, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** What a running (or killed) server wrote about itself into its data directory. */
export type Postmaster = { pid: number; port: number; isReady: boolean };

// A fast shutdown writes a checkpoint first; what is still there after that loses nothing by an immediate one,
// since the write-ahead log is replayed.
const STOP_LADDER = [
  { signal: "SIGINT", waitMs: 10_000 },
  { signal: "SIGQUIT", waitMs: 5_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
] as const;

const pidFileOf = (pgdata: string): string => path.join(pgdata, "postmaster.pid");

/** Reads `postmaster.pid`; null where there is none or it is not written whole yet. */
export async function readPostmaster(pgdata: string): Promise<Postmaster | null> {
  const lines = (await readFile(pidFileOf(pgdata), "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === "ready" };
}

/**
 * Clears the way for a start: a server that a killed launcher left running on this data is shut down, and what a killed
 * server wrote about itself is marked as past. Returns the pid it stopped, or null. Only for a caller that holds the data
 * directory's lock and then starts the server as its own child.
 */
export async function clearOrphan(pgdata: string): Promise<number | null> {
  const postmaster = await readPostmaster(pgdata);
  if (!postmaster) {
    await rm(pidFileOf(pgdata), { force: true });
    return null;
  }
  const isOrphan = (await isRunning(postmaster.pid)) && (await servesData(postmaster.pid, pgdata));
  if (isOrphan) await stopPostmaster(postmaster.pid);
  await markPast(pgdata);
  return isOrphan ? postmaster.pid : null;
}

// A number that is in use stops the next server, also when it means somebody else by now or a dead process that nobody
// has reaped. Its parent's number does not. The rest of the file stays: by it the server finds out whether children of
// the dead one still work on the data.
async function markPast(pgdata: string): Promise<void> {
  const file = pidFileOf(pgdata);
  const owner = await stat(file).catch(() => null);
  if (!owner) return;
  const lines = (await readFile(file, "utf8")).split("\n");
  await writeFile(`${file}.past`, [process.pid, ...lines.slice(1)].join("\n"), { mode: 0o600 });
  await chown(`${file}.past`, owner.uid, owner.gid);
  await rename(`${file}.past`, file);
}

/** Shuts a server down, ever less politely, and resolves when the process is gone. */
export async function stopPostmaster(pid: number): Promise<void> {
  for (const { signal, waitMs } of STOP_LADDER) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (let waitedMs = 0; waitedMs < waitMs; waitedMs += 20) {
      if (!(await isRunning(pid))) return;
      await wait(20);
    }
  }
}

// A server works inside its data directory, which no other program does: a number handed out anew is told apart.
async function servesData(pid: number, pgdata: string): Promise<boolean> {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (folder === null) return process.platform !== "linux";
  return folder === (await realpath(pgdata));
}

// A process that nobody has reaped (a container without an init) is as gone as one that was.
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/^\d+ \(.*\) Z/s.test(status);
}
