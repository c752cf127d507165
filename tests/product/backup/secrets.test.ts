import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createKeyring } from "#server/platform/secrets/keyring";
import { admitKeyring } from "#server/services/secrets/registry";
import { installationSecret } from "../../support/deps";
import { forEachTest } from "../../support/fixtures";
import { killLeftovers } from "../../support/processes/processes";
import { startProgram } from "../../support/processes/program";
import { createBackupWorld, passphrase } from "./backup-world";

const newSecret = "a new secret of this installation, for the tests";
const idOf = (secret: string) => createKeyring([secret]).given.id;
const pending = { BACKSTAMP_SECRET: newSecret, BACKSTAMP_SECRETS_OLD: JSON.stringify([installationSecret]) };
vi.setConfig({ testTimeout: 120_000 });

const world = forEachTest(() => createBackupWorld());
beforeEach(async () => {
  await admitKeyring(world.source.deps);
});
afterEach(async () => {
  killLeftovers();
});

test("the scheduled backup of a stand-alone worker has all generated secrets, also before a rotation is complete", async () => {
  const added = await world.backstamp(["relay", "add", "main", "smtp://u:p@smtp.example.com"]);
  expect(added).toMatchObject({ code: 0 });
  const [dataDir, folder] = [world.fileOf("data"), world.fileOf("scheduled")];
  await mkdir(dataDir, { mode: 0o700 });
  // After the first `secret rotate` and a restart, before the second one.
  const kept = { secret: newSecret, oldSecrets: [installationSecret] };
  await writeFile(path.join(dataDir, "secrets.json"), JSON.stringify(kept), { mode: 0o600 });
  const worker = await startProgram("server/startup/admin.ts", ["worker"], {
    env: {
      DATABASE_URL: world.source.databaseUrl,
      BACKSTAMP_URL: "http://localhost:3000",
      BACKSTAMP_DATA_DIR: dataDir,
      BACKSTAMP_BACKUP_TO: folder,
      BACKSTAMP_BACKUP_PASSPHRASE: passphrase,
    },
  });
  await worker.waitFor(/backup\.(made|failed)/, { timeoutMs: 100_000 });
  await worker.stop("SIGTERM");
  const [file = ""] = await readdir(folder);

  const target = await world.target();
  const env = { BACKSTAMP_SECRET: "", BACKSTAMP_DATA_DIR: world.fileOf("restored") };
  expect(await target.backstamp(["restore", path.join(folder, file)], env)).toMatchObject({ code: 0 });
  const written = JSON.parse(await readFile(world.fileOf("restored/secrets.json"), "utf8"));
  expect(written).toEqual(kept);
  const status = await target.backstamp(["secret", "status"], env);
  expect(status.stdout).toContain(`${idOf(installationSecret)}  current, oldSecrets, entry 1`);
});

test("an encrypted backup without the secret that encrypts in the database fails, and a plain one is made", async () => {
  const other = { BACKSTAMP_SECRET: newSecret };
  const failed = await world.backstamp(["backup", world.fileOf("lacking.tar.gz.age")], other);
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "so the backup would lack it. Set BACKSTAMP_SECRET and BACKSTAMP_SECRETS_OLD",
    ),
  });
  expect(await readdir(world.folder)).toEqual([]);
  await world.backUp("plain.tar.gz", other);
});

test("a backup during a rotation is restored with the secret that encrypts, and not with the one that waits", async () => {
  const file = await world.backUp("pending.tar.gz", pending);
  const waiting = await (await world.target()).backstamp(["restore", file], { BACKSTAMP_SECRET: newSecret });
  expect(waiting).toMatchObject({ code: 1, stderr: expect.stringContaining("is not that of the backup") });
  const done = await (await world.target()).backstamp(["restore", file]);
  expect(done).toMatchObject({ code: 0 });
});
