import { cli, startCommandOf } from "#server/platform/env/cli";
import { readSettings, type Settings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import type { HeldDeletion } from "#server/services/restores/hold";
import { type BackupSecrets, type Header, idOfSecret } from "../../../backup/format";
import { readPassphrase } from "../../../backup/passphrase";
import { isEncrypted, readArchive } from "../../../backup/read-archive";
import { type RestoredDatabase, requireRestorable, restoreBackup } from "../../../backup/restore-backup";
import { generatedFileOf, readGenerated, writeGenerated } from "../../../install/generated";
import { acquireLock } from "../../../launcher/lock";
import { OperatorError } from "../../../launcher/operator-error";
import { startEmbeddedPostgres } from "../../../postgres/embedded";
import { withKeptSecret } from "../../session";
import { printOutput, type Terminal } from "../../terminal";
import { formatSecrets, formatVariable } from "./secret-variables";

type RestoreOptions = { passphraseFile?: string; withoutSecret?: true; json?: true };
type Verified = { header: Header; secrets: BackupSecrets | null; passphrase: string | null };

/**
 * Verifies a backup, restores it into the configured database or a new data directory, and prints what to do
 * next.
 */
export async function restore(terminal: Terminal, file: string, options: RestoreOptions): Promise<void> {
  const settings = readSettings(terminal.env, "dev");
  const verified = await verify(terminal, settings, file, options);
  const { secret, oldSecrets } = await withKeptSecret(settings);
  const ring = secret === null ? [] : [secret, ...oldSecrets];
  requireSecret(file, verified, ring, options);

  const restored = await withTarget(terminal, settings, async (databaseUrl) => {
    const { header, secrets, passphrase } = verified;
    await requireRestorable(databaseUrl, header);
    // Before the rows: after an interruption, the same command can be repeated.
    if (secrets && settings.secret === null)
      await writeGenerated(settings.dataDir, {
        ...(await readGenerated(settings.dataDir)),
        ...secrets,
        oldSecrets: [...new Set([...(secrets.oldSecrets ?? []), ...ring])].filter(
          (old) => old !== secrets.secret,
        ),
      });
    const { isDatabasePooled } = settings;
    return restoreBackup({ databaseUrl, isDatabasePooled, file, passphrase, header });
  });
  printRestored(terminal, settings, { ...verified, ring }, restored, options.json === true);
}

async function verify(
  terminal: Terminal,
  settings: Settings,
  file: string,
  { passphraseFile }: RestoreOptions,
): Promise<Verified> {
  const passphrase = (await isEncrypted(file))
    ? await findPassphrase(terminal, settings, passphraseFile)
    : null;
  let secrets: BackupSecrets | null = null;
  const { header } = await readArchive(file, passphrase, {
    secrets: (found) => {
      secrets = found;
    },
  });
  return { header, secrets, passphrase };
}

async function findPassphrase(terminal: Terminal, settings: Settings, file?: string): Promise<string> {
  const passphrase =
    (await readPassphrase(settings, file)) ?? (await terminal.askSecret?.("Passphrase: ")) ?? "";
  if (passphrase !== "") return passphrase;
  throw new OperatorError(
    "The backup is encrypted. Set BACKSTAMP_BACKUP_PASSPHRASE, or use --passphrase-file.",
  );
}

/** A secret of this installation must be that of the backup, or the sealed values could not be opened. */
function requireSecret(
  file: string,
  { header, secrets }: Verified,
  ring: readonly string[],
  { withoutSecret }: RestoreOptions,
): void {
  if (header.secretId === null || withoutSecret) return;
  if (ring.length === 0 && secrets === null)
    throw new OperatorError(
      `${file} does not contain the installation's secret. Set BACKSTAMP_SECRET to it, or copy secrets.json of the original into the data directory first. ` +
        "If the secret is lost, add --without-secret: DKIM keys, relays, webhook secrets and two-factor authentication must then be set up again.",
    );
  if (ring.length > 0 && !hasSecret(ring, header))
    throw new OperatorError(
      "The secret of this installation (BACKSTAMP_SECRET or secrets.json) is not that of the backup, so the stored DKIM keys and relay passwords could not be decrypted. " +
        (secrets
          ? "Remove it: the backup contains the right one."
          : "Set BACKSTAMP_SECRET to the secret of the installation that was backed up."),
    );
}

const hasSecret = (ring: readonly string[], { secretId }: Header): boolean =>
  ring.some((secret) => idOfSecret(secret) === secretId);

/** The configured database, or the embedded one of the data directory, which is started for this. */
async function withTarget<T>(
  { onStopSignals }: Terminal,
  { databaseUrl, dataDir }: Settings,
  task: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  if (databaseUrl !== null) return task(databaseUrl);
  const taken = await acquireLock(dataDir, "restore");
  if ("holder" in taken)
    throw new OperatorError(
      `${dataDir} is in use by process ${taken.holder.pid} (${taken.holder.purpose}). A restore needs a new data directory: BACKSTAMP_DATA_DIR=${dataDir}-restored`,
    );
  let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>> | undefined;
  const close = async () => {
    await postgres?.stop();
    await taken.lock.release();
  };
  onStopSignals({
    first: async () => {
      await close();
      process.exit(1);
    },
    again: async () => process.exit(1),
  });
  try {
    postgres = await startEmbeddedPostgres({ dataDir, log: silentLog });
    return await task(postgres.url);
  } finally {
    await close();
  }
}

function printRestored(
  terminal: Terminal,
  settings: Settings,
  { header, secrets, ring }: Verified & { ring: readonly string[] },
  { rows, held, unknown, deletions, skipped }: RestoredDatabase,
  isJson: boolean,
): void {
  const { databaseUrl, dataDir, secret } = settings;
  const target = databaseUrl === null ? dataDir : "the database of DATABASE_URL";
  const isSecretLost = header.secretId !== null && secrets === null && !hasSecret(ring, header);
  // With configured secrets, those of the backup are not written to the data directory.
  const lacking =
    secrets && secret !== null
      ? [secrets.secret, ...(secrets.oldSecrets ?? [])].filter((old) => !ring.includes(old))
      : [];
  printOutput(
    terminal,
    {
      json: {
        taken_at: header.takenAt,
        release: header.release,
        rows,
        held,
        unknown,
        team_deletions: deletions.map(({ team, deletesAt }) => ({
          team,
          deletes_at: deletesAt?.toISOString() ?? null,
        })),
        skipped_tables: skipped,
      },
      text: [
        `Restored ${rows} rows into ${target}, as of ${header.takenAt} (Backstamp ${header.release}).`,
        held === 0
          ? "No email was queued at that time."
          : `${held} ${held === 1 ? "delivery is" : "deliveries are"} HELD: they were queued at that time and may have been sent since.`,
        ...(unknown === 0
          ? []
          : [
              `${unknown} ${unknown === 1 ? "delivery was" : "deliveries were"} being sent at that time, so the outcome is UNKNOWN. Decide in the console, or by: ${cli} email settle`,
            ]),
      ],
      notes: [
        ...(held === 0 ? [] : RELEASE_ADVICE),
        ...deletions.map(formatDeletion),
        "Changes after that time are lost: suppressions, revoked keys and members are as they were then. All users must sign in again, and pending invitations have expired.",
        "Events can be posted to webhooks a second time, with the same webhook-id.",
        ...(secrets && databaseUrl !== null && secret === null
          ? [
              `The secret was written to ${generatedFileOf(dataDir)}. On other machines, set BACKSTAMP_SECRET to it, and BACKSTAMP_SECRETS_OLD to its oldSecrets.`,
            ]
          : []),
        ...(isSecretLost ? SECRET_LOST : []),
        ...(lacking.length > 0
          ? [
              "Former secrets of the backup are not configured. Links in earlier email and some stored values need them. Set for all processes:",
              `  ${formatVariable("BACKSTAMP_SECRETS_OLD", formatSecrets([...ring.slice(1), ...lacking]))}`,
            ]
          : []),
        ...skipped.map((table) => `Not restored, because Backstamp did not create it: table ${table}.`),
        `Start Backstamp: ${startCommandOf("start")}`,
      ],
    },
    isJson,
  );
}

const formatDeletion = ({ team, deletesAt }: HeldDeletion): string =>
  deletesAt === null
    ? `The deletion of the team ${team} had started at the time of the backup. It continues.`
    : `The deletion of the team ${team} was requested before the backup. It is now planned for ${deletesAt.toISOString()}. If it was canceled after the backup, run: ${cli} team keep`;

const SECRET_LOST = [
  "The secret of the backup is lost. The secret of this installation is rejected until you run:",
  `  ${cli} secret rotate --lost`,
  "Then set up relays, callbacks, DKIM keys, webhook secrets and authenticator apps again.",
];

const RELEASE_ADVICE = [
  "New email is sent normally. Decide about the held email:",
  `  ${cli} release --all                    sends it; what was sent after the backup arrives twice`,
  `  ${cli} release --scheduled-after TIME   sends what is scheduled after TIME, for example when the old installation stopped`,
  `  ${cli} release --accepted-after TIME    sends what was accepted since TIME, if sending had stopped before the backup`,
  `  ${cli} release --none                   cancels what is still held`,
];
