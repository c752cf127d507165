import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { Log } from "#server/log";
import type { RunningWorker } from "./worker";

const RESTART_AFTER_MS = [200, 1_000, 2_000, 5_000, 10_000] as const;
/** A child that lived this long had nothing wrong at its start; the next pause is the shortest again. */
const healthyAfterMs = 60_000;
const stopMaxMs = 30_000;
const startedMaxMs = 10_000;

/**
 * Keeps one worker process running with this environment: whenever it ends by itself it is started again, ever later
 * while it keeps ending early. `stop` lets it drain and resolves when it is gone.
 */
export function superviseWorker(env: NodeJS.ProcessEnv, log: Log): RunningWorker {
  // Beside this file, whether it is the source or was compiled.
  const { dir, ext } = path.parse(import.meta.filename);
  const file = path.join(dir, `worker-process${ext}`);
  let child: ChildProcess | undefined;
  let pause: NodeJS.Timeout | undefined;
  let isStopping = false;
  let failures = 0;
  let tellStarted: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    const patience = setTimeout(resolve, startedMaxMs);
    tellStarted = () => {
      clearTimeout(patience);
      resolve();
    };
  });

  const start = (): void => {
    const startedMs = performance.now();
    // It hears of our end by the channel, also when we are killed.
    child = spawn(process.execPath, [...process.execArgv, file], {
      env,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.once("error", (error) =>
      log.error("worker.not_started", { code: (error as NodeJS.ErrnoException).code }),
    );
    child.once("message", tellStarted);
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
      tellStarted();
      clearTimeout(pause);
      const leaving = child;
      if (leaving) {
        const gone = new Promise<void>((resolve) => leaving.once("exit", () => resolve()));
        leaving.kill("SIGTERM");
        const patience = setTimeout(() => leaving.kill("SIGKILL"), stopMaxMs);
        await gone;
        clearTimeout(patience);
      }
      process.off("exit", killAtExit);
    },
  };
}
