import path from "node:path";
import { cli, startCommandOf } from "#server/platform/env/cli";
import { readSettings, type Settings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import type { HeldDeletion } from "#server/services/restores/hold";
import { type BackupSecrets, type Header, idOfSecret } from "../../../backup/format";
import { isEncrypted, readArchive } from "../../../backup/read-archive";
import { type RestoredDatabase, requireRestorable, restoreBackup } from "../../../backup/restore-backup";
import { generatedFileOf, readGenerated, writeGenerated } from "../../../install/generated";
import { acquireLock } from "../../../launcher/lock";
import { OperatorError } from "../../../launcher/operator-error";
import { startEmbeddedPostgres } from "../../../postgres/embedded";
import { asText } from "../../arguments";
import { argument, command, flag } from "../../command";
import { type Closers, withKeptSecret, withOpened } from "../../connection";
import type { Output, Terminal } from "../../terminal";
import { countOf } from "./held";
import { formatSecrets, formatVariable } from "./secret-variables";

type Verified = { header: Header; secrets: BackupSecrets | null; passphrase: string | null };

/**
 * Verifies a backup, restores it into the configured database or a new data directory, and prints what to do
 * next.
 */
export const restore = command({
  params: {
    file: argument("a backup", asText),
    withoutSecret: flag("restores a backup that lacks the secret, although no other copy of it exists"),
  },
  help: `
The target is the data directory (BACKSTAMP_DATA_DIR) or the database of DATABASE_URL. It must be empty. Afterwards, email
that was queued at the time of the backup is held until you run: ${cli} release

Example:
  BACKSTAMP_DATA_DIR=/srv/backstamp-restored ${cli} restore /var/backups/backstamp.tar.gz.age`,
  run: async (terminal, { file: given, withoutSecret }) => {
    const file = path.resolve(given);
    const settings = readSettings(terminal.env, "dev");
    const verified = await verify(terminal, settings, file);
    const { secret, oldSecrets } = await withKeptSecret(settings);
    const ring = secret === null ? [] : [secret, ...oldSecrets];
    if (!withoutSecret) requireSecret(file, verified, ring);

    const openDatabase = (closers: Closers) => openTarget(settings, closers);
    const restored = await withOpened(terminal, openDatabase, async (databaseUrl) => {
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
    return describeRestored(settings, { ...verified, ring }, restored);
  },
});

async function verify(terminal: Terminal, settings: Settings, file: string): Promise<Verified> {
  let passphrase: string | null = null;
  if (await isEncrypted(file)) {
    passphrase = settings.backup.passphrase ?? (await terminal.askSecret?.("Passphrase: ")) ?? "";
    if (passphrase === "")
      throw new OperatorError("The backup is encrypted. Set its passphrase: BACKSTAMP_BACKUP_PASSPHRASE");
  }
  let secrets: BackupSecrets | null = null;
  const { header } = await readArchive(file, passphrase, {
    secrets: (found) => {
      secrets = found;
    },
  });
  return { header, secrets, passphrase };
}

/** A secret of this installation must be that of the backup, or the sealed values could not be opened. */
function requireSecret(file: string, { header, secrets }: Verified, ring: readonly string[]): void {
  if (header.secretId === null) return;
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
async function openTarget({ databaseUrl, dataDir }: Settings, closers: Closers): Promise<string> {
  if (databaseUrl !== null) return databaseUrl;
  const taken = await acquireLock(dataDir, "restore");
  if ("holder" in taken)
    throw new OperatorError(
      `${dataDir} is in use by process ${taken.holder.pid} (${taken.holder.purpose}). A restore needs a new data directory: BACKSTAMP_DATA_DIR=${dataDir}-restored`,
    );
  closers.push(() => taken.lock.release());
  const postgres = await startEmbeddedPostgres({ dataDir, log: silentLog });
  closers.push(() => postgres.stop());
  return postgres.url;
}

function describeRestored(
  { databaseUrl, dataDir, secret }: Settings,
  { header, secrets, ring }: Verified & { ring: readonly string[] },
  { rows, held, unknown, deletions, skipped }: RestoredDatabase,
): Output {
  const target = databaseUrl === null ? dataDir : "the database of DATABASE_URL";
  const isSecretLost = header.secretId !== null && secrets === null && !hasSecret(ring, header);
  const isSecretWritten = secrets !== null && databaseUrl !== null && secret === null;
  // With configured secrets, those of the backup are not written to the data directory.
  const lacking =
    secrets && secret !== null
      ? [secrets.secret, ...(secrets.oldSecrets ?? [])].filter((old) => !ring.includes(old))
      : [];
  return {
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
      `HELD: ${countOf(held)}, which were queued at that time and may have been sent since.`,
      `UNKNOWN outcome: ${countOf(unknown)}, which were being sent at that time.`,
    ],
    notes: [
      ...(held > 0 ? RELEASE_ADVICE : []),
      ...(unknown > 0 ? [`Decide about unknown outcomes in the console, or by: ${cli} email settle`] : []),
      ...deletions.map(formatDeletion),
      "Changes after that time are lost: suppressions, revoked keys and members are as they were then. All users must sign in again, and pending invitations have expired.",
      "Events can be posted to webhooks a second time, with the same webhook-id.",
      ...(isSecretWritten
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
  };
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
