import { type DoctorDeps, failureOf, notChecked, ok, type Result, warning } from "./finding";

/** Without a schedule, an older backup is not sufficient. */
const recentDays = 7;

const PLAIN = warning(
  "Scheduled backups contain all email unencrypted and lack the installation's secret.",
  "Set BACKSTAMP_BACKUP_PASSPHRASE.",
);
const NONE = warning(
  `No backups are scheduled, and none was made in the last ${recentDays} days.`,
  "Set BACKSTAMP_BACKUP_TO to a folder of another disk, or run `backstamp backup FILE` regularly.",
);

/**
 * Whether backups are made, and encrypted. Alerts report scheduled ones that fail or are late. The provider
 * of a database server may make backups that are not visible here, so none is not a fault there.
 */
export async function checkBackups({
  hot,
  policy: { backupEveryHours },
  areBackupsPlain,
  findBackupFolderFault,
  readDisk,
  isDevelopment,
}: DoctorDeps): Promise<Result> {
  const folderFault = await findBackupFolderFault();
  if (folderFault !== null) return failureOf(folderFault, "Set BACKSTAMP_BACKUP_TO to another folder.");
  const [last] = await hot<{ hours: number }[]>`
    select floor(extract(epoch from now() - started_at) / 3600)::int as hours from backups
    where status = 'succeeded' order by started_at desc limit 1`;
  const age = last && `The last one is ${last.hours} hours old.`;
  if (areBackupsPlain) return PLAIN;
  if (backupEveryHours !== null)
    return ok(`A backup is made every ${backupEveryHours} hours. ${age ?? "None was made yet."}`);
  if (last && last.hours < recentDays * 24) return ok(`No backups are scheduled. ${age}`);
  if (isDevelopment) return notChecked("No backups are scheduled. `npm run dev` needs none.");
  if (readDisk) return NONE;
  return notChecked("No backups are scheduled here. Check those of the database server.");
}
