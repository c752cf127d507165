import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Deps } from "#server/deps";
import { errorFacts } from "#server/platform/log";
import { claimBackup, failBackup, releaseBackup } from "#server/services/backups/record";
import { nameOfBackup } from "./backup-folder";

const checkMsDefault = 60_000;
/** For a stopped backup to delete what it has written. */
const stopMsMax = 10_000;
/** The reason is on the last lines. */
const outputCharsMax = 2_000;

export type ScheduleOptions = {
  folder: string;
  everyHours: number;
  isEncrypted: boolean;
  /** The program of the command line, for a process of its own: a backup must not delay deliveries. */
  program: string;
  env: NodeJS.ProcessEnv;
  /** Between two checks whether a backup is due. */
  checkMs?: number;
};

/**
 * Starts a process for each scheduled backup that is due, while this worker runs. Of several workers, one
 * makes the backup. `stop` ends a backup in progress; a later one replaces it.
 */
export function startBackupSchedule(
  deps: Pick<Deps, "db" | "log" | "clock">,
  { folder, everyHours, isEncrypted, program, env, checkMs = checkMsDefault }: ScheduleOptions,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();

  const startDue = async () => {
    const target = { location: folder, name: nameOfBackup(deps.clock(), isEncrypted) };
    const id = await claimBackup(deps, everyHours, target);
    if (id === null) return;
    if (signal.aborted) return releaseBackup(deps, id);
    // A process that is still there has stalled: it has no heartbeat, so the backup is due again.
    child?.kill("SIGKILL");
    const args = [...process.execArgv, program, "backup", "--scheduled", id, "--json"];
    child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    ended = report(child, id).catch((error) => deps.log.warn("backup.not_started", errorFacts(error)));
  };

  const report = async (running: ChildProcess, id: string) => {
    const closed = once(running, "close");
    const read = (stream: Readable | null) => (stream ? text(stream) : "");
    const [output, errors] = await Promise.all([read(running.stdout), read(running.stderr)]);
    const [code] = await closed;
    if (code === 0) {
      const { deletionFault, ...facts } = JSON.parse(output);
      deps.log.info("backup.made", facts);
      if (deletionFault !== null) deps.log.warn("backup.old_not_deleted", { reason: deletionFault });
    } else if (!signal.aborted) {
      const reason =
        errors.trim().slice(-outputCharsMax) || "It wrote nothing for 10 minutes, and was ended.";
      deps.log.error("backup.failed", { reason });
      await failBackup(deps, id, reason);
    }
  };

  const loop = (async () => {
    while (!signal.aborted) {
      await startDue().catch((error) => deps.log.warn("backup.not_started", errorFacts(error)));
      await wait(checkMs, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      child?.kill("SIGTERM");
      await loop;
      await Promise.race([ended, wait(stopMsMax, undefined, { ref: false })]);
      child?.kill("SIGKILL");
    },
  };
}
