import { spawn } from "node:child_process";
import type { HotSql } from "#db/client";
import { installationSecret } from "../deps";
import { type Exit, projectRoot } from "./processes";
import { compiledOf } from "./program";

const program = await compiledOf("server/startup/worker-process.ts");

/** The worker process of the product. `output` is its log, one JSON object per line. */
export type WorkerProcess = {
  pid: number;
  output(): string;
  hasExited(): boolean;
  exited: Promise<Exit>;
  signal(name: NodeJS.Signals): void;
};

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
  const child = spawn(process.execPath, [...nodeArgs, program], {
    cwd: projectRoot,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: databaseUrl,
      SMTP_URL: smtpUrl,
      BACKSTAMP_URL: "http://localhost:3000",
      BACKSTAMP_SECRET: installationSecret,
      BACKSTAMP_HOSTNAME: "worker.test",
      ...env,
    } as unknown as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  let hasExited = false;
  const worker: WorkerProcess = {
    pid: child.pid ?? 0,
    output: () => output,
    hasExited: () => hasExited,
    exited: new Promise((resolve) =>
      child.once("exit", (code, signal) => {
        hasExited = true;
        running.delete(worker);
        resolve({ code, signal });
      }),
    ),
    signal: (name) => void (hasExited || child.kill(name)),
  };
  running.add(worker);
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
