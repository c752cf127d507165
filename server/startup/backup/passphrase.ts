import { readFile } from "node:fs/promises";
import type { Settings } from "#server/platform/env/settings";
import { OperatorError } from "../launcher/operator-error";

export const passphraseCharsMin = 12;

/** The passphrase of a file, or of `BACKSTAMP_BACKUP_PASSPHRASE`. Null if there is neither. */
export async function readPassphrase(
  { backup }: Pick<Settings, "backup">,
  file?: string,
): Promise<string | null> {
  if (file === undefined) return backup.passphrase;
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(`The passphrase file ${file} cannot be read (${cause.code}).`, { cause });
  });
  return requireLength(text.replace(/\r?\n$/, ""), file);
}

/** Whether scheduled backups are made without a passphrase. */
export const areBackupsPlain = ({ folder, passphrase }: Settings["backup"]): boolean =>
  folder !== null && passphrase === null;

/** A passphrase that is too short would not protect the secrets of the installation. */
export function requireLength(passphrase: string, source: string): string {
  if (passphrase.length >= passphraseCharsMin) return passphrase;
  throw new OperatorError(
    `${source}: The passphrase has fewer than ${passphraseCharsMin} characters. Choose a longer one.`,
  );
}
