import { type DoctorDeps, failure, ok, type Results, warning } from "./finding";

export const SETTINGS_ADVICE = "Correct these settings and restart Backstamp.";

/** Whether the settings are complete for production, and scheduled backups protect the installation. */
export async function checkSettings({ settingsFault, areBackupsPlain }: DoctorDeps): Promise<Results> {
  return [
    settingsFault === null ? ok("All settings are valid.") : failure(settingsFault, SETTINGS_ADVICE),
    ...(areBackupsPlain ? [PLAIN_BACKUPS] : []),
  ];
}

const PLAIN_BACKUPS = warning(
  "Scheduled backups contain all email unencrypted and lack the installation's secret.",
  "Set BACKSTAMP_BACKUP_PASSPHRASE or BACKSTAMP_BACKUP_PASSPHRASE_FILE.",
);
