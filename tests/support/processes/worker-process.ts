import type { HotSql } from "#db/client";
import { installationSecret } from "../deps";
import { type Child, startChild } from "./child";
import { compiledOf } from "./program";

const program = await compiledOf("server/startup/worker-process.ts");

/** The worker process of the product. `output` is its log, one JSON object per line. */
export type WorkerProcess = Pick<Child<object>, "pid" | "output" | "hasExited" | "exited" | "signal">;

export type WorkerSettings = {
  databaseUrl: string;
  smtpUrl: string;
  /** Arguments for Node, such as a small heap. */
  nodeArgs?: readonly string[];
  /** Additional settings, which override the defaults. */
  env?: Record<string, string>;
};

const running = new Set<WorkerProcess>();

/**
 * Starts a worker in the same way as the launcher, connected by a channel: it exits when this process does.
 */
export function spawnWorker({
  databaseUrl,
  smtpUrl,
  nodeArgs = [],
  env = {},
}: WorkerSettings): WorkerProcess {
  const worker = startChild(
    program,
    [],
    {
      DATABASE_URL: databaseUrl,
      SMTP_URL: smtpUrl,
      BACKSTAMP_URL: "http://localhost:3000",
      BACKSTAMP_SECRET: installationSecret,
      BACKSTAMP_HOSTNAME: "worker.test",
      ...env,
    },
    nodeArgs,
  );
  running.add(worker);
  void worker.exited.then(() => running.delete(worker));
  return worker;
}

/** Kills all remaining workers, also stopped ones. For `afterEach`. */
export async function killWorkers(): Promise<void> {
  const left = [...running];
  for (const worker of left) worker.signal("SIGKILL");
  await Promise.all(left.map(({ exited }) => exited));
}

/**
 * Waits until all workers have a heartbeat in this database. Fails with a worker's output if it exits before.
 */
export async function waitForHeartbeats(
  hot: HotSql,
  workers: readonly WorkerProcess[],
  maxMs = 60_000,
): Promise<void> {
  const untilMs = performance.now() + maxMs;
  for (;;) {
    const beating = await hot<{ pid: number }[]>`select pid from workers`;
    const silent = workers.find(({ pid }) => !beating.some((row) => row.pid === pid));
    if (!silent) return;
    if (silent.hasExited() || performance.now() > untilMs)
      throw new Error(`a worker did not begin:\n${silent.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
