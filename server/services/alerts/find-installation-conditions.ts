import type { Deps } from "#server/deps";
import { formatBytes, isNearlyFull } from "#server/platform/disk";
import { findBacklogAlarms, getBacklog } from "../backlog-alarms";
import { isLastBackupFailed } from "../backups/record";
import { listPausedSmtpUrlRelays } from "../relays/read";
import { findLostWorkers, findSurroundingFaults } from "../surroundings";
import { conditionsMax } from "./find-team-conditions";
import type { AlertKind, Condition } from "./kinds";

const ofInstallation = (kind: AlertKind, message: string, subject = "", name = ""): Condition => ({
  kind,
  teamId: null,
  subject,
  name,
  message,
});

/** What has been due for longer than five minutes, which the readiness reports, too. */
export async function findBacklogs({ db }: Pick<Deps, "db">): Promise<Condition[]> {
  const alarms = findBacklogAlarms(await getBacklog(db));
  return alarms.map(({ alarm, summary }) => ofInstallation(alarm, summary));
}

/** Relays that were paused after faults, also those of one team: only the operator can change them. */
export async function findPausedRelays({ db, hot }: Pick<Deps, "db" | "hot">): Promise<Condition[]> {
  const [rows, ofSmtpUrl] = await Promise.all([
    hot<{ id: string; name: string; host: string; team: string | null; fault: string | null }[]>`
      select r.id, r.name, r.host, t.name as team, r.last_fault as fault
      from relays r left join teams t on t.id = r.team_id
      where r.paused_until is not null and r.pause_reason is null and not r.is_untested order by r.id limit ${conditionsMax}`,
    listPausedSmtpUrlRelays({ db }),
  ]);
  const faultOf = (fault: string | null) => (fault === null ? "" : ` Last error: ${fault}`);
  return [
    ...rows.map(({ id, name, host, team, fault }) => {
      const ofTeam = team === null ? "" : ` of the team ${team}`;
      const message = `The relay ${name} (${host})${ofTeam} is paused.${faultOf(fault)}`;
      return ofInstallation("relay_paused", message, id, name);
    }),
    ...ofSmtpUrl.map(({ id, host, lastFault }) => {
      const message = `The relay of SMTP_URL (${host}) is paused.${faultOf(lastFault)}`;
      return ofInstallation("relay_paused", message, id, `SMTP_URL (${host})`);
    }),
  ];
}

/** The disk of the embedded database. A database elsewhere is watched by its own monitoring. */
export async function findFullDisk({ readDisk }: Pick<Deps, "readDisk">): Promise<Condition[]> {
  const disk = await readDisk?.();
  if (!disk || !isNearlyFull(disk)) return [];
  const space = `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)}`;
  return [ofInstallation("disk_space", `The disk of the database has ${space} free.`)];
}

/** Faults around the worker that evaluates the alerts, which the readiness of each process reports, too. */
export async function findFaultySurroundings(deps: Deps): Promise<Condition[]> {
  const faults = [...(await findSurroundingFaults(deps)), await findLostWorkers(deps)];
  return faults.flatMap((fault) => (fault ? [ofInstallation(fault.alarm, fault.message)] : []));
}

/**
 * A worker makes a missing backup when it starts. Without one after this time, the backup fails before it is
 * recorded.
 */
const firstBackupMinutes = 60;

/**
 * Failed scheduled backups, none that succeeded within two periods, and none at all although workers run.
 * Nothing while no backups are scheduled.
 */
export async function findOldBackup({
  db,
  hot,
  policy: { backupEveryHours },
}: Pick<Deps, "db" | "hot" | "policy">): Promise<Condition[]> {
  if (backupEveryHours === null) return [];
  const old = (message: string) => [ofInstallation("backup_old", message)];
  if (await isLastBackupFailed({ db }))
    return old("The last scheduled backup failed. It is repeated every 15 minutes.");
  const [last] = await hot<{ hours: number }[]>`
    select floor(extract(epoch from now() - started_at) / 3600)::int as hours from backups
    where is_scheduled and status = 'succeeded' order by started_at desc limit 1`;
  if (last)
    return last.hours < 2 * backupEveryHours
      ? []
      : old(
          `The last successful backup is ${last.hours} hours old. One is scheduled every ${backupEveryHours} hours.`,
        );
  if (!(await isFirstBackupMissing(hot))) return [];
  return old(
    "No scheduled backup was ever made. The log of the workers has the reason: backup.failed or backup.not_started.",
  );
}

/** Whether a worker has run for long, and none makes the first backup. */
async function isFirstBackupMissing(hot: Deps["hot"]): Promise<boolean> {
  const [row] = await hot<{ isMissing: boolean }[]>`
    select coalesce(min(started_at) < now() - ${firstBackupMinutes} * interval '1 minute', false)
      and not exists (select from backups where is_scheduled and status = 'running') as "isMissing"
    from workers where beat_at > now() - interval '1 minute'`;
  return row?.isMissing === true;
}
