import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { Log } from "#server/platform/log";
import type { RunningWorker } from "./worker";

const RESTART_AFTER_MS = [200, 1_000, 2_000, 5_000, 10_000] as const;
/** A worker that ran this long started correctly. The next restart uses the shortest delay again. */
const healthyAfterMs = 60_000;
/** Argument of a worker process whose database is the embedded one. */
export const EMBEDDED = "--embedded-database";
const stopMaxMs = 30_000;
const startedMaxMs = 10_000;

/**
 * Keeps one worker process running with this environment. If the process exits, it is restarted, with
 * increasing delays while it keeps exiting early. `stop` lets it drain and resolves when it has exited.
 */
export function superviseWorker(
  env: NodeJS.ProcessEnv,
  log: Log,
  { isEmbedded }: { isEmbedded: boolean },
): RunningWorker {
  // In the folder of this file, for the source as well as for the compiled program.
  const { dir, ext } = path.parse(import.meta.filename);
  const file = path.join(dir, `worker-process${ext}`);
  let child: ChildProcess | undefined;
  let pause: NodeJS.Timeout | undefined;
  let isStopping = false;
  let failures = 0;
  let resolveStarted: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    const timeout = setTimeout(resolve, startedMaxMs);
    resolveStarted = () => {
      clearTimeout(timeout);
      resolve();
    };
  });

  const start = (): void => {
    const startedMs = performance.now();
    // The IPC channel closes when this process ends, even if it is killed. The worker then stops.
    child = spawn(process.execPath, [...process.execArgv, file, ...(isEmbedded ? [EMBEDDED] : [])], {
      env,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.once("error", (error) =>
      log.error("worker.not_started", { code: (error as NodeJS.ErrnoException).code }),
    );
    child.once("message", resolveStarted);
    child.once("exit", (code, signal) => {
      child = undefined;
      if (isStopping) return;
      failures = performance.now() - startedMs > healthyAfterMs ? 0 : failures;
      const afterMs = RESTART_AFTER_MS[Math.min(failures, RESTART_AFTER_MS.length - 1)];
      failures += 1;
      log.error("worker.died", { code, signal, restartAfterMs: afterMs });
      pause = setTimeout(start, afterMs);
    });
  };
  start();
  const killAtExit = () => child?.kill("SIGKILL");
  process.once("exit", killAtExit);

  return {
    started,
    async stop() {
      isStopping = true;
      resolveStarted();
      clearTimeout(pause);
      const leaving = child;
      if (leaving) {
        const gone = new Promise<void>((resolve) => leaving.once("exit", () => resolve()));
        leaving.kill("SIGTERM");
        const killTimeout = setTimeout(() => leaving.kill("SIGKILL"), stopMaxMs);
        await gone;
        clearTimeout(killTimeout);
      }
      process.off("exit", killAtExit);
    },
  };
}
