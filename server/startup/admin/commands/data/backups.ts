import path from "node:path";
import { isSchemaMissing } from "#db/faults";
import { readDiskSpace } from "#server/platform/disk";
import { cli } from "#server/platform/env/cli";
import { readSettings } from "#server/platform/env/settings";
import {
  beatBackup,
  beginBackup,
  completeBackup,
  type FinishedBackup,
  failBackup,
  failSilentBackups,
  listBackups,
} from "#server/services/backups/record";
import { deletePartials, type FillBackup, writeBackupFile } from "../../../backup/backup-folder";
import { createBackup } from "../../../backup/create-backup";
import { passphraseCharsMin, readPassphrase, requireLength } from "../../../backup/passphrase";
import { beatMs, reasonOf, runScheduledBackup } from "../../../backup/scheduled-backup";
import { OperatorError } from "../../../launcher/operator-error";
import { type AdminCommand, runInDatabase } from "../../command";
import { type Session, withKeptSecret } from "../../session";
import { listOutput, type Output, type Terminal } from "../../terminal";
import { addHoldCommand } from "./hold";
import { addReleaseCommand } from "./release";
import { restore } from "./restore";

type BackupOptions = { passphraseFile?: string; list?: true; scheduled?: true };

const shownMax = 20;

/** `backup`, `restore`, `hold`, `release`. */
export function addBackupCommands(program: AdminCommand): void {
  const { terminal } = program;
  const backup = program
    .command("backup")
    .description("writes the whole installation to a file, while Backstamp runs")
    .argument("[file]", "a new file, such as backstamp.tar.gz.age")
    .option(
      "--passphrase-file <file>",
      "file with the passphrase (default: BACKSTAMP_BACKUP_PASSPHRASE, or a prompt)",
    )
    .option("--list", "lists the scheduled backups and those of this command instead")
    .option("--scheduled", "makes the scheduled backup if it is due; workers run this")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", BACKUP_HELP);
  runInDatabase(
    backup,
    (session: Session, file: string | undefined, options: BackupOptions) => {
      if (options.list) return list(session);
      if (options.scheduled) return makeScheduled(terminal, session);
      if (file === undefined) throw new OperatorError("Enter the name of a new file, or --list.");
      return makeBackup(terminal, session, path.resolve(file), options);
    },
    // A backup of a new installation, for a wrong data directory, or of a migrated one would not be that of
    // the operator.
    { isUnchanged: true },
  );

  program
    .command("restore")
    .description(
      "restores a backup into a new data directory or an empty database, and holds its queued email",
    )
    .argument("<file>", "a backup")
    .option(
      "--passphrase-file <file>",
      "file with the passphrase (default: BACKSTAMP_BACKUP_PASSPHRASE, or a prompt)",
    )
    .option(
      "--without-secret",
      "restores a backup that lacks the secret, although no other copy of it exists",
    )
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", RESTORE_HELP)
    .action((file: string, options) => restore(terminal, path.resolve(file), options));

  addHoldCommand(program);
  addReleaseCommand(program);
}

const BACKUP_HELP = `
With a passphrase, the backup is encrypted and contains everything, including the secret that decrypts DKIM keys, relay
passwords and webhook secrets. Without a passphrase, it is not encrypted and lacks the secret.
The format is age (https://age-encryption.org), gzip and tar: age --decrypt FILE | tar --extract --gzip

Example:
  ${cli} backup /var/backups/backstamp-2030-01-31.tar.gz.age`;

const RESTORE_HELP = `
The target is the data directory (BACKSTAMP_DATA_DIR) or the database of DATABASE_URL. It must be empty. Afterwards, email
that was queued at the time of the backup is held until you run: ${cli} release`;

async function makeBackup(
  terminal: Terminal,
  { deps, databaseUrl, stoppable }: Session,
  file: string,
  { passphraseFile }: BackupOptions,
): Promise<Output> {
  const settings = await withKeptSecret(readSettings(terminal.env, "dev"));
  const passphrase =
    (await readPassphrase(settings, passphraseFile)) ?? (await askForNewPassphrase(terminal));
  if (passphrase !== null && settings.secret === null)
    throw new OperatorError(
      "BACKSTAMP_SECRET is not set, so the backup would lack it. Set the secret of the installation, as its processes have it.",
    );
  const { dataDir, secret, oldSecrets } = settings;
  const target = { location: path.dirname(file), name: path.basename(file) };
  const record = await recordBegin(deps, target);
  let created = null as Awaited<ReturnType<typeof createBackup>> | null;
  const fill: FillBackup = async (output) => {
    created = await createBackup({ databaseUrl, dataDir, secret, oldSecrets, passphrase }, output);
  };
  const sizeBytes = await stoppable((signal) => writeBackupFile(file, fill, signal, { readDiskSpace })).catch(
    async (error: unknown) => {
      await record?.fail(error);
      throw error;
    },
  );
  if (!created) throw new TypeError("the file was not filled");
  const { takenAt, tables, rows, hasSecret } = created;
  await record?.complete({ name: target.name, sizeBytes, hasSecret });
  return {
    json: {
      file,
      taken_at: takenAt.toISOString(),
      size_bytes: sizeBytes,
      tables,
      rows,
      has_secret: hasSecret,
    },
    text: [
      `Backed up ${rows} rows of ${tables} tables to ${file}, as of ${takenAt.toISOString()}.`,
      `The file has ${sizeBytes} bytes.`,
    ],
    notes: hasSecret
      ? ["Keep the passphrase in another place. Without it, the backup cannot be restored."]
      : missingSecretWarning(terminal.env, dataDir),
  };
}

/**
 * Lists a backup while it is made, so that one whose process is killed is listed as failed; deletes what
 * earlier ones left. Null before an upgrade: the database of the former release may have no such list.
 */
async function recordBegin(deps: Session["deps"], target: { location: string; name: string }) {
  try {
    for (const { location, name } of await failSilentBackups(deps))
      await deletePartials(path.join(location, name)).catch(() => {});
    const id = await beginBackup(deps, target);
    const beat = setInterval(() => void beatBackup(deps, id).catch(() => {}), beatMs);
    return {
      complete: (made: FinishedBackup) => {
        clearInterval(beat);
        return completeBackup(deps, id, made);
      },
      fail: (error: unknown) => {
        clearInterval(beat);
        return failBackup(deps, id, reasonOf(error));
      },
    };
  } catch (error) {
    if (isSchemaMissing(error)) return null;
    throw error;
  }
}

const missingSecretWarning = (env: Terminal["env"], dataDir: string): string[] => [
  "",
  "WARNING: This backup is not encrypted and does not contain the installation's secret.",
  "Without the secret, DKIM keys, relay passwords, webhook secrets and two-factor authentication are lost.",
  (env.BACKSTAMP_SECRET ?? "") === ""
    ? `Keep a copy of ${path.join(dataDir, "secrets.json")} in another safe place, or set a passphrase: BACKSTAMP_BACKUP_PASSPHRASE`
    : "Keep a copy of BACKSTAMP_SECRET in another safe place, or set a passphrase: BACKSTAMP_BACKUP_PASSPHRASE",
];

async function askForNewPassphrase({ askSecret }: Terminal): Promise<string | null> {
  if (!askSecret) return null;
  const first = await askSecret(
    `Passphrase, at least ${passphraseCharsMin} characters (empty: not encrypted): `,
  );
  if (first === "") return null;
  requireLength(first, "Passphrase");
  if ((await askSecret("Repeat the passphrase: ")) !== first)
    throw new OperatorError("The two passphrases differ. Run the command again.");
  return first;
}

async function makeScheduled(terminal: Terminal, { deps, databaseUrl, stoppable }: Session): Promise<Output> {
  const settings = await withKeptSecret(readSettings(terminal.env, "dev"));
  const made = await stoppable((signal) => runScheduledBackup(deps, { ...settings, databaseUrl }, signal));
  return made === null
    ? { json: { made: null }, text: ["No backup is due."] }
    : { json: { made }, text: [`Backed up to ${made.location}: ${made.name}, ${made.sizeBytes} bytes.`] };
}

async function list({ deps }: Session): Promise<Output> {
  await failSilentBackups(deps);
  return listOutput(
    (await listBackups(deps, shownMax)).map(({ id: _, beatAt: __, ...backup }) => backup),
    ({ startedAt, status, isScheduled, location, name, sizeBytes, hasSecret, fault }) => ({
      started: startedAt,
      status,
      by: isScheduled ? "schedule" : "command",
      location,
      name,
      bytes: sizeBytes,
      secret: hasSecret === null ? "" : hasSecret ? "included" : "missing",
      fault,
    }),
    "No backups.",
  );
}
