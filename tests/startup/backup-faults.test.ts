import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installationSecret } from "../support/deps";
import { forAllTests } from "../support/fixtures";
import { isRoot } from "../support/processes/launcher";
import { runProgram } from "../support/processes/program";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

const wait = { timeout: 120_000 };

const backstamp = (args: string[], env: Record<string, string> = {}) =>
  runProgram("server/startup/admin.ts", args, {
    env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_SECRET: installationSecret, ...env },
  });
const listed = async () => JSON.parse((await backstamp(["backup", "--list", "--json"])).stdout).data;

test.skipIf(!isRoot)("a backup to a disk that fills ends with the reason, and is listed", wait, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-full-"));
  expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]).status).toBe(0);
  onTestFinished(async () => {
    spawnSync("umount", [folder]);
    await rm(folder, { recursive: true });
  });
  await world.hot`create table filler as select md5(random()::text || n) as a, md5(random()::text || n) as b
    from generate_series(1, 200000) as n`;
  const file = path.join(folder, "one.tar.gz");
  expect(await backstamp(["backup", file])).toMatchObject({
    code: 1,
    signal: null,
    stderr: expect.stringMatching(/^backstamp: The disk of .* (has|is full)/),
  });
  await world.hot`drop table filler`;
  expect(await readdir(folder)).toEqual([]);
  expect(await listed()).toMatchObject([{ status: "failed", location: folder, name: "one.tar.gz" }]);
});

test("what a killed backup left is listed as failed, and deleted by the next one", wait, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-killed-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, "killed.tar.gz.4711.partial"), "x");
  await world.hot`insert into backups (id, is_scheduled, status, location, name, beat_at)
    values (gen_random_uuid(), false, 'running', ${folder}, 'killed.tar.gz', now() - interval '5 minutes')`;
  expect(await backstamp(["backup", path.join(folder, "next.tar.gz")])).toMatchObject({ code: 0 });
  expect(await readdir(folder)).toEqual(["next.tar.gz"]);
  const [next, killed] = await listed();
  expect([next.status, killed.status, killed.name]).toEqual(["succeeded", "failed", "killed.tar.gz"]);
});
