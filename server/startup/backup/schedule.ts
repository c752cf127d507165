import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import type { Deps } from "#server/deps";
import { errorFacts } from "#server/platform/log";
import { isBackupDue } from "#server/services/backups/record";
import type { ScheduledBackup } from "./scheduled-backup";

const checkMsDefault = 60_000;
const stalledCheckMsDefault = 2 * 60_000;
/** For a stopped backup to delete what it has written. */
const stopMsMax = 10_000;
const STALLED = Symbol("stalled");
/** The reason is on the last lines. */
const outputCharsMax = 2_000;

export type ScheduleOptions = {
  everyHours: number;
  /** The program of the command line, for a process of its own: a backup must not delay deliveries. */
  program: string;
  env: NodeJS.ProcessEnv;
  /** Between two checks whether a backup is due. */
  checkMs?: number;
  /** Between two checks of a running one; longer than a process needs to start and claim the backup. */
  stalledCheckMs?: number;
};

/**
 * Starts a process for each scheduled backup that is due, while this worker runs. Of several workers, one
 * makes the backup. `stop` ends a backup in progress; a later one replaces it.
 */
export function startBackupSchedule(
  deps: Pick<Deps, "db" | "log">,
  {
    everyHours,
    program,
    env,
    checkMs = checkMsDefault,
    stalledCheckMs = stalledCheckMsDefault,
  }: ScheduleOptions,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;

  /** A process that waits for a disk may not even react to being killed. Nothing waits for it any longer. */
  const endWhenStalled = async (running: ChildProcess, watch: AbortSignal) => {
    while (!watch.aborted) {
      const isStopping = stopping.signal.aborted;
      const signal = isStopping ? watch : AbortSignal.any([watch, stopping.signal]);
      await wait(isStopping ? stopMsMax : stalledCheckMs, undefined, { signal }).catch(() => {});
      const isDue = () => isBackupDue(deps, everyHours).catch(() => false);
      // The process has no heartbeat any more, so the backup is due again.
      if (isStopping || (!signal.aborted && (await isDue()))) break;
    }
    running.kill("SIGKILL");
    return STALLED;
  };

  const makeBackup = async () => {
    if (stopping.signal.aborted) return;
    const running = spawn(
      process.execPath,
      [...process.execArgv, program, "backup", "--scheduled", "--json"],
      {
        env,
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    child = running;
    let [output, errors] = ["", ""];
    running.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    running.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (errors = (errors + text).slice(-outputCharsMax)));
    const closed = new Promise<unknown>((resolve) => {
      running.once("error", resolve);
      running.once("close", resolve);
    });
    const watch = new AbortController();
    const code = await Promise.race([closed, endWhenStalled(running, watch.signal)]);
    watch.abort();
    child = undefined;
    if (stopping.signal.aborted) return;
    if (code === STALLED)
      return deps.log.error("backup.failed", { reason: "It wrote nothing for 10 minutes, and was ended." });
    if (code !== 0) return deps.log.error("backup.failed", { reason: errors.trim() });
    const { made } = JSON.parse(output) as { made: ScheduledBackup | null };
    // Another worker made it.
    if (made === null) return;
    const { deletionFault, ...facts } = made;
    deps.log.info("backup.made", facts);
    if (deletionFault !== null) deps.log.warn("backup.old_not_deleted", { reason: deletionFault });
  };

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      try {
        if (await isBackupDue(deps, everyHours)) await makeBackup();
      } catch (error) {
        deps.log.warn("backup.not_started", errorFacts(error));
      }
      await wait(checkMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      child?.kill("SIGTERM");
      await loop;
    },
  };
}
