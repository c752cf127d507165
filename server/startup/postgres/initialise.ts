import { type ExecFileException, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { type Account, chooseInitAccount } from "./account";
import type { ClusterLocation } from "./cluster-location";

const PASSWORD_FILE = "postgres.password";
const STAGING = "postgres-init-";

/**
 * The superuser's password of the cluster in `home`: 32 random bytes, created once, stored with mode 0600.
 */
export async function ensurePassword(home: string, pgdata: string): Promise<string> {
  const file = path.join(home, PASSWORD_FILE);
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  if (kept) return kept;
  if (await stat(pgdata).catch(() => null)) {
    throw new Error(
      `${file} is missing. The database in ${pgdata} cannot be opened without it. Restore the file from a backup.`,
    );
  }
  const password = randomBytes(32).toString("base64url");
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${password}\n`, { mode: 0o600 });
  await rename(fresh, file);
  return password;
}

/**
 * PostgreSQL's built-in Unicode rules: the same order and case mapping on every machine, independent of its
 * locales.
 */
const UNICODE_LOCALE = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"] as const;

type NewCluster = {
  initdb: string;
  user: string;
  password: string;
  isQuick: boolean;
  /** Arguments of initdb for another version, which lacks the built-in rules. */
  locale?: readonly string[];
};

/**
 * Creates the cluster if it does not exist. It is built in a staging folder and renamed into place, so a kill
 * at any time leaves either no cluster or a complete one.
 */
export async function createCluster(
  { home, pgdata, account }: ClusterLocation,
  { initdb, user, password, isQuick, locale = UNICODE_LOCALE }: NewCluster,
): Promise<void> {
  for (const left of await readdir(home)) {
    // The initdb of a killed process may still write into it for a moment.
    if (left.startsWith(STAGING))
      await rm(path.join(home, left), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
  if (await stat(pgdata).catch(() => null)) return;

  const initAccount = account && (await chooseInitAccount(account));
  const staging = await mkdtemp(path.join(home, STAGING));
  const passwordFile = path.join(staging, "password");
  const cluster = path.join(staging, "cluster");
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await mkdir(cluster, { mode: 0o700 });
  if (initAccount) await chownRecursive(staging, initAccount);
  await run(initdb, initAccount, [
    `--pgdata=${cluster}`,
    `--username=${user}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    ...locale,
    "--no-instructions",
    ...(isQuick ? ["--no-sync"] : []),
  ]);
  if (account) await chownRecursive(cluster, account);
  await rename(cluster, pgdata);
  await rm(staging, { recursive: true, force: true });
}

export async function chownRecursive(folder: string, { uid, gid }: Account): Promise<void> {
  await chown(folder, uid, gid);
  for (const entry of await readdir(folder, { recursive: true }))
    await lchown(path.join(folder, entry), uid, gid);
}

async function run(program: string, account: Account | null, args: string[]): Promise<void> {
  const options = { ...account, cwd: "/", env: { NODE_ENV: "production" as const, TZ: "UTC" } };
  await promisify(execFile)(program, args, options).catch((error: ExecFileException) => {
    if (typeof error.code === "string") throw explainSpawn(error as NodeJS.ErrnoException, account);
    throw new Error(
      `The embedded database could not be initialized: initdb exited with code ${error.code}.\n${error.stderr}${error.stdout}`.trim(),
      { cause: error },
    );
  });
}

/** Explains a failed spawn to the operator, with what to do. */
export function explainSpawn(error: NodeJS.ErrnoException, account: Account | null): Error {
  if (account && (error.code === "EPERM" || error.code === "EINVAL")) {
    return new Error(
      `PostgreSQL does not run as root, and this process is not permitted to switch to user ${account.uid} (possibly ` +
        "a user namespace with a single user). Start as a regular user, or set DATABASE_URL.",
      { cause: error },
    );
  }
  return error;
}
