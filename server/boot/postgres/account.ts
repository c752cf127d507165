import { readFile, stat } from "node:fs/promises";
import path from "node:path";

/** The user that PostgreSQL runs as. */
export type Account = { uid: number; gid: number };

// No account of any distribution and no range that useradd, systemd or subordinate ids hand out lies here, so the
// data belongs to nobody else, and no account has to be made on the machine.
const RESERVED: Account = { uid: 60_787, gid: 60_787 };

/**
 * Whom PostgreSQL runs as: null means this process's own user. Root may not run it, so for root it is whoever owns
 * the existing data, else the account `posthorn` where the machine has one, else a reserved number without account.
 */
export async function chooseAccount(pgdata: string): Promise<Account | null> {
  const owner = await stat(pgdata).catch(() => null);
  const self = process.getuid?.() ?? -1;
  if (self !== 0) {
    if (owner && owner.uid !== self) {
      throw new Error(
        `${pgdata} belongs to user ${owner.uid} and this is user ${self}. Start as that user (or as root), ` +
          "or set POSTHORN_DATA_DIR to a directory of your own.",
      );
    }
    return null;
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return (await readAccounts()).find((account) => account.name === "posthorn") ?? RESERVED;
}

/** Who may run initdb, which refuses a user without a name: `account` itself, else `nobody`, else any but root. */
export async function chooseInitAccount(account: Account): Promise<Account> {
  const accounts = (await readAccounts()).filter((candidate) => candidate.uid !== 0);
  const named =
    accounts.find((candidate) => candidate.uid === account.uid) ??
    accounts.find((candidate) => candidate.name === "nobody") ??
    accounts[0];
  if (named) return { uid: named.uid, gid: named.gid };
  throw new Error(
    "PostgreSQL refuses to be set up by root, and /etc/passwd names no other user. Add one, for example nobody.",
  );
}

/** Whether `account`, in no further groups, may pass through every folder down to `target` and into it. */
export async function reaches(account: Account, target: string): Promise<boolean> {
  for (let folder = path.resolve(target); ; folder = path.dirname(folder)) {
    const { uid, gid, mode } = await stat(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === path.dirname(folder)) return true;
  }
}

async function readAccounts(): Promise<(Account & { name: string })[]> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  return passwd
    .split("\n")
    .map((line) => line.split(":"))
    .filter((fields) => fields.length >= 4)
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}
