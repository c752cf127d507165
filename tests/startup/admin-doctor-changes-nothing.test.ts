import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { acquireLock } from "#server/startup/launcher/lock";
import { installationSecret } from "../support/deps";
import { runCommand } from "../support/processes/command-line";
import { createWorld, type World } from "../support/world";

let world: World;
beforeAll(async () => {
  world = await createWorld({ transportKind: "none" });
});
afterAll(() => world.close());

const wait = { timeout: 60_000 };

async function doctor(env: Record<string, string>) {
  const done = await runCommand(["doctor", "--json"], {
    env: {
      DATABASE_URL: world.databaseUrl,
      BACKSTAMP_SECRET: installationSecret,
      BACKSTAMP_URL: world.baseUrl,
      BACKSTAMP_DNS_SERVERS: "127.0.0.1:9",
      ...env,
    },
  });
  const report: { findings: { check: string }[] } = JSON.parse(done.stdout);
  return { ...done, of: (check: string) => report.findings.filter((finding) => finding.check === check) };
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "doctor-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("settings that no mode accepts are a finding, with the exit code of an error", wait, async () => {
  const done = await doctor({ PORT: "many" });
  expect(done.code).toBe(2);
  expect(done.of("settings")).toMatchObject([
    { status: "error", message: expect.stringContaining('PORT: "many"') },
  ]);
  expect(done.of("database")).toMatchObject([{ status: "not_checked" }]);
});

test("a doctor that fails has the exit code of an error and says why", wait, async () => {
  const folder = await emptyFolder();
  await writeFile(path.join(folder, "secrets.json"), "[]");
  const { code, stderr } = await runCommand(["doctor", "--json"], {
    env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_URL: world.baseUrl, BACKSTAMP_DATA_DIR: folder },
  });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^backstamp: ./) });
});

test("the embedded database of a stopped Backstamp is not started, created or migrated", wait, async () => {
  const folder = await emptyFolder();
  const done = await doctor({ DATABASE_URL: "", BACKSTAMP_SECRET: "", BACKSTAMP_DATA_DIR: folder });
  expect(await readdir(folder)).toEqual([]);
  expect(done.of("database")).toMatchObject([
    {
      status: "error",
      message: expect.stringContaining("not running"),
      advice: expect.stringContaining("Start"),
    },
  ]);
  expect(done.of("schema")).toMatchObject([{ status: "not_checked" }]);
});

test("the database of the running Backstamp is used, and nothing in it changes", wait, async () => {
  const folder = await emptyFolder();
  const taken = await acquireLock(folder, "test");
  if (!("lock" in taken)) throw new Error("the folder is in use");
  onTestFinished(() => taken.lock.release());
  await taken.lock.describe({ databaseUrl: world.databaseUrl, publicUrl: world.baseUrl });
  const secrets = () => world.hot`select id from installation_secrets`;
  await world.hot`delete from installation_secrets`;
  const done = await doctor({
    DATABASE_URL: "",
    BACKSTAMP_SECRET: installationSecret,
    BACKSTAMP_DATA_DIR: folder,
  });
  expect(done.of("database")).toMatchObject([{ status: "ok" }]);
  expect([...(await secrets())]).toEqual([]);
});
