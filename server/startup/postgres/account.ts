import { readFile, stat } from "node:fs/promises";
import path from "node:path";

/** The user that PostgreSQL runs as. */
export type Account = { uid: number; gid: number };

// This number is outside the ranges of distributions, useradd, systemd and subordinate ids. No other user
// owns the data, and no account has to be created.
const RESERVED: Account = { uid: 60_787, gid: 60_787 };

/**
 * The user to run PostgreSQL as. Null means this process's own user. PostgreSQL does not run as root, so for
 * root it is the owner of the existing data, else the account `backstamp` if it exists, else a reserved uid
 * without an account.
 */
export async function chooseAccount(pgdata: string): Promise<Account | null> {
  const owner = await stat(pgdata).catch(() => null);
  const self = process.getuid?.() ?? -1;
  if (self !== 0) {
    if (owner && owner.uid !== self) {
      throw new Error(
        `${pgdata} belongs to user ${owner.uid}, but this process runs as user ${self}. Start as that user (or as ` +
          "root), or set BACKSTAMP_DATA_DIR to your own directory.",
      );
    }
    return null;
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return (await readAccounts()).find((account) => account.name === "backstamp") ?? RESERVED;
}

/**
 * The user to run initdb as. initdb requires a user with a name: `account` itself, else `nobody`, else any
 * but root.
 */
export async function chooseInitAccount(account: Account): Promise<Account> {
  const accounts = (await readAccounts()).filter((candidate) => candidate.uid !== 0);
  const named =
    accounts.find((candidate) => candidate.uid === account.uid) ??
    accounts.find((candidate) => candidate.name === "nobody") ??
    accounts[0];
  if (named) return { uid: named.uid, gid: named.gid };
  throw new Error(
    "PostgreSQL cannot be initialized by root, and /etc/passwd contains no other user. Add one, for example nobody.",
  );
}

/** Whether `account`, without supplementary groups, can enter `target` and all folders above it. */
export async function canReach(account: Account, target: string): Promise<boolean> {
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
