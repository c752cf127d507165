import { readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { replaceForOwner } from "../launcher/write-for-owner";

/** The contents of `postmaster.pid`, written by a running or killed server. */
export type Postmaster = { pid: number; port: number; isReady: boolean };

// A fast shutdown writes a checkpoint first. If it takes too long, an immediate shutdown follows; it loses no
// data, because the next start replays the write-ahead log.
const STOP_LADDER = [
  { signal: "SIGINT", waitMs: 10_000 },
  { signal: "SIGQUIT", waitMs: 5_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
] as const;

const pidFileOf = (pgdata: string): string => path.join(pgdata, "postmaster.pid");

/** Reads `postmaster.pid`. Null if it is missing or incomplete. */
export async function readPostmaster(pgdata: string): Promise<Postmaster | null> {
  const lines = (await readFile(pidFileOf(pgdata), "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === "ready" };
}

/**
 * Prepares the cluster for a start: stops a server that a killed launcher left running, and marks the pid
 * file of a killed server as stale. Returns the pid of the stopped server, or null. The caller must hold the
 * cluster's lock and then start the server as its own child.
 */
export async function stopOrphan(pgdata: string): Promise<number | null> {
  if (!(await readPostmaster(pgdata))) {
    await rm(pidFileOf(pgdata), { force: true });
    return null;
  }
  const orphan = await findServer(pgdata);
  if (orphan !== null) await stopPostmaster(orphan, pgdata);
  await markStale(pgdata);
  return orphan;
}

/** The pid of the running server of this cluster, or null. */
export async function findServer(pgdata: string): Promise<number | null> {
  const { pid } = (await readPostmaster(pgdata)) ?? {};
  return pid !== undefined && (await isServing(pid, pgdata)) ? pid : null;
}

// PostgreSQL does not start while the pid in the file exists, even if it belongs to another process by now or
// to a zombie. It accepts the pid of its own parent, so that pid is written. The rest of the file stays: the
// server uses it to detect whether children of the dead server still use the data.
async function markStale(pgdata: string): Promise<void> {
  const file = pidFileOf(pgdata);
  if (!(await stat(file).catch(() => null))) return;
  const lines = (await readFile(file, "utf8")).split("\n");
  await replaceForOwner(file, [process.pid, ...lines.slice(1)].join("\n"));
}

/** Stops a server with increasingly forceful signals, and resolves when the process has exited. */
export async function stopPostmaster(pid: number, pgdata: string): Promise<void> {
  for (const { signal, waitMs } of STOP_LADDER) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (let waitedMs = 0; waitedMs < waitMs; waitedMs += 20) {
      if (!(await isServing(pid, pgdata))) return;
      await wait(20);
    }
  }
}

// Only the PostgreSQL server has the cluster as its working directory. A process that reused the pid has
// another one, and a zombie, for example in a container without an init process, has none.
async function isServing(pid: number, pgdata: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const folder = await stat(`/proc/${pid}/cwd`).catch(() => null);
  if (folder === null) return process.platform !== "linux";
  const { dev, ino } = await stat(pgdata);
  return folder.dev === dev && folder.ino === ino;
}
