import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { readSettings } from "#server/platform/env/settings";
import { createLog } from "#server/platform/log";
import { claimBackup, isLastBackupFailed, listBackups } from "#server/services/backups/record";
import { nameOfBackup } from "#server/startup/backup/backup-folder";
import { makeScheduledBackup } from "#server/startup/backup/make-backup";
import { startBackupSchedule } from "#server/startup/backup/schedule";
import { installationSecret } from "../../support/deps";
import { forAllTests } from "../../support/fixtures";
import { isRunning, startProcess } from "../../support/processes/processes";
import { compiledOf } from "../../support/processes/program";
import { createBackupWorld, passphrase } from "./backup-world";

const gib = 1024 ** 3;

const world = forAllTests(() => createBackupWorld());
let folder: string;
let tests = 0;
beforeEach(async () => {
  folder = world.fileOf(`scheduled ${++tests}`);
  await world.source.hot`delete from backups`;
});

/** What the process does that a worker starts for a due backup. Null if none is due. */
async function run(
  env: Record<string, string> = {},
  signal = new AbortController().signal,
  deps: Parameters<typeof makeScheduledBackup>[0] = world.source.deps,
) {
  const { backup, ...settings } = readSettings(
    {
      BACKSTAMP_BACKUP_TO: folder,
      BACKSTAMP_BACKUP_PLAN: "keep=2",
      BACKSTAMP_SECRET: installationSecret,
      BACKSTAMP_DATA_DIR: world.fileOf("data"),
      ...env,
    },
    "dev",
  );
  const { passphrase, keep, folder: location } = backup;
  const name = nameOfBackup(world.source.deps.clock(), passphrase !== null);
  const target = { location: location ?? "", name };
  const id = await claimBackup(deps, backup.everyHours, target);
  const { databaseUrl } = world.source;
  const all = { ...settings, databaseUrl, passphrase, keep };
  return id === null ? null : { name, ...(await makeScheduledBackup(deps, { ...target, id }, all, signal)) };
}
const nextPeriod = () =>
  world.source
    .hot`update backups set started_at = started_at - interval '1 day', ended_at = ended_at - interval '1 day'`;

test("of several workers, one makes the backup of a period, and it can be restored", async () => {
  const made = (await Promise.all([run(), run(), run()])).filter((each) => each !== null);
  expect(made).toHaveLength(1);
  expect(await run()).toBeNull();
  expect(await readdir(folder)).toEqual([made[0]?.name]);
  const target = await world.target();
  const file = path.join(folder, made[0]?.name ?? "");
  expect(await target.backstamp(["restore", file])).toMatchObject({ code: 0 });
});

test("old backups are deleted after a successful one, and no other files", async () => {
  await mkdir(folder);
  const old = ["20250101", "20250102", "20250103"].map((day) => `backstamp-${day}T030000000Z.tar.gz`);
  for (const name of [...old, "notes.txt", "backstamp-mine.tar.gz"])
    await writeFile(path.join(folder, name), "");
  const made = await run();
  expect(made?.deleted).toEqual(old.slice(0, 2));
  expect((await readdir(folder)).sort()).toEqual(
    ["backstamp-mine.tar.gz", "notes.txt", old[2], made?.name].sort(),
  );
});

test("the backup just written is never deleted, whatever the names of others", async () => {
  await mkdir(folder);
  const others = ["29990101", "29990102", "29990103"].map((day) => `backstamp-${day}T030000000Z.tar.gz`);
  for (const name of others) await writeFile(path.join(folder, name), "");
  const made = await run();
  expect((await readdir(folder)).sort()).toEqual([made?.name, others[2]].sort());
});

test("a backup is complete although old ones could not be deleted, which is reported and not repeated", async () => {
  await mkdir(folder);
  const old = ["20250101", "20250102"].map((day) => `backstamp-${day}T030000000Z.tar.gz`);
  // `rm` does not delete a folder.
  for (const name of old) await mkdir(path.join(folder, name));
  expect(await run()).toMatchObject({ deleted: [], deletionFault: expect.stringContaining(old[0] ?? "") });
  expect(await listBackups(world.source.deps, 10)).toMatchObject([
    { status: "succeeded", fault: expect.stringContaining("could not be deleted") },
  ]);
  await world.source.hot`update backups set ended_at = ended_at - interval '16 min'`;
  expect(await run()).toBeNull();
});

test("a failure is recorded with its reason, keeps old backups, is reported, and is repeated later", async () => {
  const kept = path.join(folder, "backstamp-20250101T030000000Z.tar.gz.age");
  await run();
  await writeFile(kept, "");
  await nextPeriod();
  const file = path.join(folder, "no folder");
  await writeFile(file, "");
  await expect(run({ BACKSTAMP_BACKUP_TO: file })).rejects.toThrow(/is not a folder/);
  expect((await listBackups(world.source.deps, 10)).map(({ status, fault }) => ({ status, fault }))).toEqual([
    { status: "failed", fault: expect.stringContaining(file) },
    { status: "succeeded", fault: null },
  ]);
  expect(await readdir(folder)).toContain(path.basename(kept));
  const listed = await world.backstamp(["backup", "--list"]);
  expect(listed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/failed\s+schedule.*is not a folder/),
  });
  expect(await run()).toBeNull();
  await world.source.hot`update backups set ended_at = ended_at - interval '16 min'`;
  // Of another name than the first backup, which can be of the same second.
  expect(await run({ BACKSTAMP_BACKUP_PASSPHRASE: passphrase })).toMatchObject({ hasSecret: true });
});

test.each([
  ["before it begins", 0],
  ["while it is written", 1],
])("a backup stops %s where its disk is nearly full, and leaves no file", async (_, readings) => {
  // Incompressible, so that the backup is larger than the distance of two readings.
  await world.source.hot`
    create table filler as select md5(random()::text) || md5(random()::text) as text from generate_series(1, 150000)`;
  let left = readings;
  const measureDiskSpace = async () => ({
    freeBytes: left-- > 0 ? 2 * gib : 0.9 * gib,
    totalBytes: 100 * gib,
  });
  const deps = { ...world.source.deps, measureDiskSpace };
  const running = run({}, undefined, deps);
  const fault = /has 921\.6 MiB free, and a backup leaves 1\.0 GiB\. Delete files, keep fewer backups/;
  await expect(running).rejects.toThrow(fault);
  expect(await readdir(folder)).toEqual([]);
  expect(await listBackups(world.source.deps, 10)).toMatchObject([
    { status: "failed", fault: expect.stringMatching(fault) },
  ]);
  expect(left).toBe(-1);
  await world.source.hot`drop table filler`;
});

test("a stop signal during a backup leaves no file and no record, and another process makes it at once", async () => {
  const { hot } = world.source;
  const stopping = new AbortController();
  let running: ReturnType<typeof run> | undefined;
  await hot.begin(async (tx) => {
    // A backup waits for this lock, after it has created its file.
    await tx`lock table emails in access exclusive mode`;
    running = run({}, stopping.signal);
    running.catch(() => {});
    await expect.poll(() => readdir(folder)).toEqual([expect.stringMatching(/partial$/)]);
    stopping.abort();
  });
  await expect(running).rejects.toThrow();
  expect(await readdir(folder)).toEqual([]);
  expect(await listBackups(world.source.deps, 10)).toEqual([]);
  expect(await run()).not.toBeNull();
});

test("a failed backup is an alarm while it is repeated, and not after the schedule is switched off", async () => {
  const { deps, hot } = world.source;
  await mkdir(folder);
  await writeFile(path.join(folder, "no folder"), "");
  await expect(run({ BACKSTAMP_BACKUP_TO: path.join(folder, "no folder") })).rejects.toThrow();
  expect(await isLastBackupFailed(deps)).toBe(true);
  await hot`update backups set ended_at = ended_at - interval '25 hours'`;
  expect(await isLastBackupFailed(deps)).toBe(false);
});

describe("a worker", () => {
  /** Starts the schedule with a program instead of the command line. It also writes a file. */
  const start = async (made: object, { isFirstHung = false } = {}) => {
    await mkdir(folder);
    const program = world.fileOf("program.mjs");
    await writeFile(
      program,
      `import fs from "node:fs";
      const file = ${JSON.stringify(path.join(folder, "has-run"))};
      const hangs = ${isFirstHung} && !fs.existsSync(file);
      fs.writeFileSync(file, String(process.pid));
      if (hangs) for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      console.log(${JSON.stringify(JSON.stringify(made))});`,
    );
    const lines: string[] = [];
    const log = createLog((line) => lines.push(line), world.source.deps.clock);
    const worker = startBackupSchedule(
      { ...world.source.deps, log },
      {
        folder,
        everyHours: 24,
        isEncrypted: false,
        program,
        env: process.env,
        ...(isFirstHung && { checkMs: 100 }),
      },
    );
    return { lines, stop: worker.stop };
  };
  const hasRun = async () => (await readdir(folder)).includes("has-run");

  test("that stops while it claims a backup starts none, and leaves it to another worker", async () => {
    await (await start({})).stop();
    expect(await hasRun()).toBe(false);
    expect(await listBackups(world.source.deps, 10)).toEqual([]);
  });

  test("ends a backup that has stalled, and makes another", async () => {
    const worker = await start({ name: "a", deletionFault: null }, { isFirstHung: true });
    await vi.waitFor(async () => expect(await hasRun()).toBe(true), 30_000);
    const hung = Number(await readFile(path.join(folder, "has-run"), "utf8"));
    // As after two minutes without a heartbeat.
    await world.source.hot`update backups set beat_at = now() - interval '3 min'`;
    await vi.waitFor(() => expect(worker.lines.length).toBeGreaterThanOrEqual(2), 60_000);
    expect(worker.lines.slice(0, 2).map((line) => JSON.parse(line))).toMatchObject([
      { level: "error", event: "backup.failed", reason: expect.stringContaining("was ended") },
      { level: "info", event: "backup.made", name: "a" },
    ]);
    expect(isRunning(hung)).toBe(false);
    await worker.stop();
  });

  test("logs the backup that it made, and why old ones were not deleted", async () => {
    const worker = await start({ name: "a", deletionFault: "no permission" });
    await vi.waitFor(() => expect(worker.lines).toHaveLength(2), 30_000);
    expect(worker.lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "info", event: "backup.made", name: "a" },
      { level: "warn", event: "backup.old_not_deleted", reason: "no permission" },
    ]);
    await worker.stop();
  });
});

test("SIGTERM ends the command, and no file remains", async () => {
  await mkdir(folder);
  const program = await compiledOf("server/startup/admin.ts");
  const args = [program, "backup", path.join(folder, "mine.tar.gz")];
  const env = { DATABASE_URL: world.source.databaseUrl, BACKSTAMP_DATA_DIR: world.fileOf("data") };
  // The lock prevents that the backup completes before the signal has arrived.
  const command = await world.source.hot.begin(async (tx) => {
    await tx`lock table emails in access exclusive mode`;
    const started = await startProcess(process.execPath, args, { env });
    await vi.waitFor(async () => expect(await readdir(folder)).toHaveLength(1), 30_000);
    started.signal("SIGTERM");
    const pending = async () =>
      /^ShdPnd:.*$/m.exec(await readFile(`/proc/${started.pid}/status`, "utf8"))?.[0];
    await expect.poll(pending).toMatch(/^ShdPnd:\s0+$/);
    return started;
  });
  expect(await command.exited).toEqual({ code: 1, signal: null });
  expect(await readdir(folder)).toEqual([]);
});
