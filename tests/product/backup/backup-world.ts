import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createRoleDatabase } from "../../support/database/role-database";
import { type DepsOptions, installationSecret, openDeps } from "../../support/deps";
import { type CommandResult, runCommand } from "../../support/processes/command-line";
import { createWorld, type World } from "../../support/world";

export const passphrase = "a passphrase of this test";

/** An installation to back up, a folder for files, and empty databases of ordinary roles to restore into. */
export type BackupWorld = {
  source: World;
  folder: string;
  /** The path of a file in the folder. */
  fileOf(name: string): string;
  /** A command of the source's operator, with its secret and a passphrase. */
  backstamp(args: string[], env?: Record<string, string>): Promise<CommandResult>;
  /** Makes a backup, encrypted if its name ends with `.age`. A failure is an error. */
  backUp(name: string, env?: Record<string, string>): Promise<string>;
  /** An empty database, and a command of its operator. */
  target(): Promise<Target>;
  close(): Promise<void>;
};

export type Target = {
  url: string;
  backstamp(args: string[], env?: Record<string, string>): Promise<CommandResult>;
  /** The dependencies of a process on it. */
  open(options?: DepsOptions): ReturnType<typeof openDeps>;
};

export async function createBackupWorld(): Promise<BackupWorld> {
  const source = await createWorld({ transportKind: "relay" });
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-backup-"));
  const closers: (() => Promise<unknown>)[] = [
    () => source.close(),
    () => rm(folder, { recursive: true, force: true }),
  ];
  const fileOf = (name: string) => path.join(folder, name);
  const commandIn =
    (url: string) =>
    (args: string[], env: Record<string, string> = {}) =>
      runCommand(args, {
        env: {
          DATABASE_URL: url,
          BACKSTAMP_SECRET: installationSecret,
          BACKSTAMP_BACKUP_PASSPHRASE: passphrase,
          BACKSTAMP_DATA_DIR: fileOf("data"),
          ...env,
        },
      });
  const backstamp = commandIn(source.databaseUrl);
  return {
    source,
    folder,
    fileOf,
    backstamp,
    async backUp(name, env) {
      const plain: Record<string, string> = name.endsWith(".age") ? {} : { BACKSTAMP_BACKUP_PASSPHRASE: "" };
      const done = await backstamp(["backup", fileOf(name)], { ...plain, ...env });
      if (done.code !== 0) throw new Error(done.stderr);
      return fileOf(name);
    },
    async target() {
      const database = await createRoleDatabase();
      closers.unshift(() => database.drop());
      return {
        url: database.url,
        backstamp: commandIn(database.url),
        open(options) {
          const opened = openDeps(database.url, options);
          closers.unshift(() => opened.close());
          return opened;
        },
      };
    },
    async close() {
      for (const close of closers) await close();
    },
  };
}
