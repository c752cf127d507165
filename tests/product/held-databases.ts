import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import postgres from "postgres";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { SYSTEM_HOME } from "#server/startup/postgres/cluster-location";
import { isRunning, killLeftovers, type TestProcess } from "../support/processes/processes";
import { startProgram } from "../support/processes/program";

export const holder = "tests/product/hold-database.ts";
export const eventually = { timeout: 60_000, interval: 20 };

export type Ready = { process: TestProcess; url: string; pid: number; pgdata: string };

/** A new folder for each test, and the embedded databases that it starts in it. Both end with the test. */
export function holdDatabases() {
  const held = { folder: "", servers: [] as number[], homes: new Set<string>(), isStopped, readyOf, start };
  beforeEach(async () => {
    held.folder = await mkdtemp(path.join(tmpdir(), "backstamp database "));
    // As root, the server runs as another user, which must be able to enter the folder.
    await chmod(held.folder, 0o755);
    held.servers = [];
    held.homes = new Set();
  });
  afterEach(async () => {
    killLeftovers();
    for (const pid of held.servers.filter(isRunning)) process.kill(pid, "SIGKILL");
    await isStopped();
    for (const each of [held.folder, ...held.homes])
      await rm(each, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  return held;

  async function isStopped(): Promise<void> {
    await vi.waitFor(() => expect(held.servers.filter(isRunning)).toEqual([]), eventually);
  }
  async function readyOf(started: TestProcess): Promise<Ready> {
    const [, facts = ""] = await started.waitFor(/^ready (.*)$/m);
    const ready: Ready = { process: started, ...JSON.parse(facts) };
    held.servers.push(ready.pid);
    if (ready.pgdata.startsWith(SYSTEM_HOME)) held.homes.add(path.dirname(ready.pgdata));
    return ready;
  }
  /** Starts the database of a data directory, which must succeed. */
  async function start(dataDir: string, ...options: string[]): Promise<Ready> {
    return readyOf(await startProgram(holder, [dataDir, ...options]));
  }
}

export async function query<T>(url: string, text: string): Promise<T[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return (await sql.unsafe(text)) as unknown as T[];
  } finally {
    await sql.end();
  }
}
