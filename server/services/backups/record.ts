import { and, desc, eq, isNotNull, sql } from "drizzle-orm";
import { backups } from "#db/schema/audit";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";

/** Arbitrary number of the advisory lock under which one process claims a scheduled backup. */
const CLAIM_LOCK = 7_067_381_211;
/**
 * Longer than several heartbeats. A running backup without one for this long belongs to a process that has
 * exited.
 */
const silentSecondsMax = 120;
/** A failed backup is repeated after this time. */
const retryMinutes = 15;
/** Longer than the retry time and one backup. */
const repeatedHoursMax = 24;
/** Older records are deleted. */
const keptDays = 90;
const faultCharsMax = 1_000;

type BackupDeps = Pick<Deps, "db">;

const isSilent = sql`${backups.beatAt} < now() - ${silentSecondsMax} * interval '1 second'`;

/** The start of the current period. A day begins at night. */
const periodStart = (everyHours: number) =>
  sql`date_bin(${everyHours} * interval '1 hour', now(), timestamptz '2001-01-01 03:00Z')`;

const isDue = (everyHours: number) => sql`not exists (
    select from ${backups} where ${backups.isScheduled} and ${backups.status} = 'succeeded'
      and ${backups.startedAt} >= ${periodStart(everyHours)})
  and not exists (
    select from ${backups} where ${backups.isScheduled} and ${backups.status} = 'running' and not ${isSilent})
  and not exists (
    select from ${backups} where ${backups.isScheduled} and ${backups.status} = 'failed'
      and ${backups.endedAt} > now() - ${retryMinutes} * interval '1 minute')`;

/** Where a backup is written: a folder, and the name of the file in it. */
export type BackupTarget = { location: string; name: string };

/**
 * Claims the backup of the current period for this process, and returns its id. Null if it is not missing, or
 * another process makes it.
 */
export async function claimBackup(
  { db }: BackupDeps,
  everyHours: number,
  target: BackupTarget,
): Promise<string | null> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${CLAIM_LOCK}::bigint)`);
    const [row] = await tx.execute<{ isDue: boolean }>(sql`select ${isDue(everyHours)} as "isDue"`);
    return row?.isDue ? beginBackup({ db: tx }, target, true) : null;
  });
}

/** Records that a backup begins, and deletes old records. Returns its id. */
export async function beginBackup(
  { db }: BackupDeps,
  target: BackupTarget,
  isScheduled = false,
): Promise<string> {
  const id = newId();
  await db.delete(backups).where(sql`${backups.startedAt} < now() - ${keptDays} * interval '1 day'`);
  await db.insert(backups).values({ ...target, id, isScheduled, status: "running" });
  return id;
}

/** A claimed backup. Null if it has ended. */
export async function findRunningBackup({ db }: BackupDeps, id: string) {
  const [found] = await db
    .select({ id: backups.id, location: backups.location, name: backups.name })
    .from(backups)
    .where(isRunning(id));
  return found ? { ...found, name: found.name ?? "" } : null;
}

const isRunning = (id: string) => and(eq(backups.id, id), eq(backups.status, "running"));

/** Records backups as failed whose process was killed, or makes no progress. Returns where they were. */
export async function failSilentBackups({ db }: BackupDeps): Promise<BackupTarget[]> {
  const ended = await db
    .update(backups)
    .set({
      status: "failed",
      endedAt: sql`now()`,
      fault: "The process ended before the backup was complete, or wrote nothing for 10 minutes.",
    })
    .where(and(eq(backups.status, "running"), isSilent))
    .returning({ location: backups.location, name: backups.name });
  return ended.flatMap(({ location, name }) => (name === null ? [] : [{ location, name }]));
}

/** Records that the process still makes the backup. */
export async function beatBackup({ db }: BackupDeps, id: string): Promise<void> {
  await db.update(backups).set({ beatAt: sql`now()` }).where(eq(backups.id, id));
}

/** Records that a backup is complete. `fault`: why old ones could not be deleted. */
export async function completeBackup(
  { db }: BackupDeps,
  id: string,
  { fault, ...done }: { sizeBytes: number; hasSecret: boolean; fault: string | null },
): Promise<void> {
  await db
    .update(backups)
    .set({ ...done, fault: fault?.slice(0, faultCharsMax) ?? null, status: "succeeded", endedAt: sql`now()` })
    .where(eq(backups.id, id));
}

/** Records why a running backup failed. */
export async function failBackup({ db }: BackupDeps, id: string, fault: string): Promise<void> {
  await db
    .update(backups)
    .set({ status: "failed", fault: fault.slice(0, faultCharsMax), endedAt: sql`now()` })
    .where(isRunning(id));
}

/** Deletes the record of a backup that was stopped, so that it is due again. */
export async function releaseBackup({ db }: BackupDeps, id: string): Promise<void> {
  await db.delete(backups).where(isRunning(id));
}

/** The newest backups first. */
export const listBackups = ({ db }: BackupDeps, limit: number) =>
  db.select().from(backups).orderBy(desc(backups.startedAt)).limit(limit);

/**
 * Whether the last scheduled backup that has ended failed. A failed one is repeated while a target is
 * configured, so one that ended long ago belongs to a schedule that is switched off.
 */
export async function isLastBackupFailed({ db }: BackupDeps): Promise<boolean> {
  const [last] = await db
    .select({
      isFailed: sql<boolean>`${backups.status} = 'failed'
        and ${backups.endedAt} > now() - ${repeatedHoursMax} * interval '1 hour'`,
    })
    .from(backups)
    .where(and(backups.isScheduled, isNotNull(backups.endedAt)))
    .orderBy(desc(backups.startedAt))
    .limit(1);
  return last?.isFailed === true;
}
