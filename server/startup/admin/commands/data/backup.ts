import path from "node:path";
import { cli } from "#server/platform/env/cli";
import { readSettings } from "#server/platform/env/settings";
import {
  beginBackup,
  failSilentBackups,
  findRunningBackup,
  listBackups,
} from "#server/services/backups/record";
import { makeBackup, makeScheduledBackup } from "../../../backup/make-backup";
import { OperatorError } from "../../../launcher/operator-error";
import { asId, asText } from "../../arguments";
import { flag, inDatabase, option, optionalArgument } from "../../command";
import { type Session, withKeptSecret } from "../../connection";
import { listOutput, type Output, output, type Terminal } from "../../terminal";

const shownMax = 20;
const passphraseCharsMin = 12;

export const backup = inDatabase({
  params: {
    file: optionalArgument("a new file, such as backstamp.tar.gz.age", asText),
    list: flag("lists the scheduled backups and those of this command instead"),
    scheduled: option("id", "makes a scheduled backup; workers run this", asId),
  },
  help: `
It asks for a passphrase, or reads BACKSTAMP_BACKUP_PASSPHRASE. With one, the backup is encrypted and contains everything,
including the secret. The format is age (https://age-encryption.org), gzip and tar: age --decrypt FILE | tar --extract --gzip

Example:
  ${cli} backup /var/backups/backstamp-2030-01-31.tar.gz.age`,
  // A backup of a new installation, for a wrong data directory, or of a migrated one would not be that of the
  // operator.
  isUnchanged: true,
  run: async (session, { file, list, scheduled }, terminal) => {
    if (list) return describeBackups(session);
    if (scheduled !== undefined) return runScheduled(session, terminal, scheduled);
    if (file === undefined) throw new OperatorError("Enter the name of a new file, or --list.");
    return writeBackup(session, terminal, path.resolve(file));
  },
});

async function writeBackup(session: Session, terminal: Terminal, file: string): Promise<Output> {
  const { deps, stoppable } = session;
  const settings = await settingsOf(session, terminal);
  const passphrase = settings.passphrase ?? (await askForNewPassphrase(terminal));
  const target = { location: path.dirname(file), name: path.basename(file) };
  const id = await beginBackup(deps, target);
  const { takenAt, tables, rows, hasSecret, sizeBytes } = await stoppable((signal) =>
    makeBackup(deps, { ...target, id }, { ...settings, passphrase }, signal),
  );
  const taken = takenAt.toISOString();
  return {
    json: { file, taken_at: taken, size_bytes: sizeBytes, tables, rows, has_secret: hasSecret },
    text: [
      `Backed up ${rows} rows of ${tables} tables to ${file}, as of ${taken}.`,
      `The file has ${sizeBytes} bytes.`,
    ],
    notes: hasSecret
      ? ["Keep the passphrase in another place. Without it, the backup cannot be restored."]
      : [
          "",
          "WARNING: This backup is not encrypted and does not contain the installation's secret.",
          "Without the secret, DKIM keys, relay passwords, webhook secrets and two-factor authentication are lost.",
          `Keep a copy of ${terminal.env.BACKSTAMP_SECRET ? "BACKSTAMP_SECRET" : path.join(settings.dataDir, "secrets.json")} in another safe place, or set a passphrase: BACKSTAMP_BACKUP_PASSPHRASE`,
        ],
  };
}

async function settingsOf({ databaseUrl }: Session, { env }: Terminal) {
  const settings = await withKeptSecret(readSettings(env, "dev"));
  const { passphrase, keep } = settings.backup;
  return { ...settings, databaseUrl, passphrase, keep };
}

async function askForNewPassphrase({ askSecret }: Terminal): Promise<string | null> {
  if (!askSecret) return null;
  const first = await askSecret(
    `Passphrase, at least ${passphraseCharsMin} characters (empty: not encrypted): `,
  );
  if (first === "") return null;
  if (first.length < passphraseCharsMin)
    throw new OperatorError(
      `The passphrase has fewer than ${passphraseCharsMin} characters. Choose another.`,
    );
  if ((await askSecret("Repeat the passphrase: ")) !== first)
    throw new OperatorError("The two passphrases differ. Run the command again.");
  return first;
}

async function runScheduled(session: Session, terminal: Terminal, id: string): Promise<Output> {
  const target = await findRunningBackup(session.deps, id);
  if (!target) throw new OperatorError(`No scheduled backup ${id} is due. Workers start this command.`);
  const settings = await settingsOf(session, terminal);
  return output(
    await session.stoppable((signal) => makeScheduledBackup(session.deps, target, settings, signal)),
  );
}

async function describeBackups({ deps }: Session): Promise<Output> {
  await failSilentBackups(deps);
  const made = await listBackups(deps, shownMax);
  return listOutput(
    made.map(({ id: _, beatAt: __, ...backup }) => backup),
    "No backups.",
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
  );
}
