import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { INSTALLATION_FILE, LOCATION_FILE, SYSTEM_HOME } from "#server/startup/postgres/cluster-location";
import { bannerOf, canUnshare, isRoot, startLauncher } from "../support/processes/launcher";
import { isRunning, startProcess } from "../support/processes/processes";
import { compiledOf, startProgram } from "../support/processes/program";
import { holdDatabases, holder, query, type Ready } from "./held-databases";

vi.setConfig({ testTimeout: 120_000 });

const held = holdDatabases();
const { readyOf, start } = held;
let original: string;
let copy: string;
beforeEach(async () => {
  // As root, the database of a data directory below a folder of mode 0700 is elsewhere.
  const closed = path.join(held.folder, "home of root");
  await mkdir(closed, { mode: 0o700 });
  original = path.join(closed, "original");
  copy = path.join(closed, "copy");
});
/** The data directories are in a folder that every user can enter, and contain their databases. */
function useOpenFolder(): void {
  original = path.join(held.folder, "original");
  copy = path.join(held.folder, "copy");
}

/** Starts the database of a data directory, which must fail, and returns the reason. */
async function rejectionOf(dataDir: string, ...options: string[]): Promise<string> {
  const started = await startProgram(holder, [dataDir, ...options]);
  expect((await started.exited).code).toBe(1);
  return started.stderr;
}

const copyFolder = (from: string, to: string): void =>
  expect(spawnSync("cp", ["-a", from, to], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });

/** An installation whose database contains one row. */
async function install(dataDir: string): Promise<Ready> {
  const ready = await start(dataDir);
  await query(ready.url, "create table kept as select 1 as one");
  return ready;
}

const rowsOf = async ({ url }: Ready): Promise<number> => (await query(url, "select one from kept")).length;

test.runIf(isRoot)("a copy does not start while the original runs, also with --adopt", async () => {
  const running = await install(original);
  copyFolder(original, copy);
  for (const options of [[], ["--adopt"]]) {
    const reason = await rejectionOf(copy, ...options);
    expect(reason).toContain(
      options.length === 0 ? `is a copy of ${original}` : `process ${running.process.pid}`,
    );
    expect(reason).toContain(options.length === 0 ? `BACKSTAMP_DATA_DIR=${original}` : "stop it first");
  }
  expect(isRunning(running.pid)).toBe(true);
  expect(running.process.stdout).not.toContain("postgres.died");
  expect(await rowsOf(running)).toBe(1);
});

test.runIf(isRoot)(
  "a copy uses the database of the stopped original only with --adopt, and then the original does not",
  async () => {
    const first = await install(original);
    await first.process.stop();
    copyFolder(original, copy);
    const reason = await rejectionOf(copy);
    expect(reason).toContain(`is a copy of ${original}`);
    expect(reason).toContain("npm start -- --adopt");

    const adopted = await start(copy, "--adopt");
    expect(adopted.pgdata).toBe(first.pgdata);
    expect(await rowsOf(adopted)).toBe(1);
    expect(await rejectionOf(original)).toContain(`is a copy of ${copy}`);
    expect(isRunning(adopted.pid)).toBe(true);
    await adopted.process.stop();
    // The adoption lasts.
    expect(await rowsOf(await start(copy))).toBe(1);
    expect(await rejectionOf(original)).toContain(copy);
  },
);

test.runIf(isRoot)("on a machine without its database, a copy does not start empty", async () => {
  const first = await install(original);
  await first.process.stop();
  const home = path.dirname(first.pgdata);
  await rename(home, `${home}.away`);
  held.homes.add(`${home}.away`);
  for (const options of [[], ["--adopt"]]) {
    const reason = await rejectionOf(original, ...options);
    expect(reason).toContain(`${first.pgdata} does not exist on this machine`);
    expect(reason).toContain(`Copy ${home} from the original machine`);
  }
  await expect(stat(home)).rejects.toMatchObject({ code: "ENOENT" });
  // The same if only the file with the location was lost.
  await rm(path.join(original, LOCATION_FILE));
  expect(await rejectionOf(original)).toContain("is missing");

  await rename(`${home}.away`, home);
  const again = await start(original);
  expect(again.pgdata).toBe(first.pgdata);
  expect(await rowsOf(again)).toBe(1);
  await again.process.stop();
  // What the message says starts with an empty database, and leaves the other one alone.
  for (const name of [LOCATION_FILE, INSTALLATION_FILE]) await rm(path.join(original, name));
  const empty = await start(original);
  expect(empty.pgdata).not.toBe(first.pgdata);
  await expect(rowsOf(empty)).rejects.toMatchObject({ code: "42P01" });
  expect(await readdir(first.pgdata)).toContain("PG_VERSION");
});

test.runIf(isRoot)("a moved data directory keeps its database", async () => {
  await (await install(original)).process.stop();
  await rename(original, copy);
  const moved = await start(copy);
  expect(await rowsOf(moved)).toBe(1);
  await moved.process.stop();
  // A link to it is the same data directory.
  await symlink(copy, original);
  expect(await rowsOf(await start(original))).toBe(1);
});

test.runIf(isRoot)("a data directory that was moved to another file system asks for --adopt", async () => {
  await (await install(original)).process.stop();
  copyFolder(original, copy);
  await rm(original, { recursive: true });
  const reason = await rejectionOf(copy);
  expect(reason).toContain(`belongs to another data directory (${original})`);
  expect(reason).toContain("If you moved that directory");
  const adopted = await start(copy, "--adopt");
  expect(await rowsOf(adopted)).toBe(1);
  await adopted.process.stop();
  expect(await rowsOf(await start(copy))).toBe(1);
});

test.runIf(canUnshare)(
  "a machine that was copied as a whole starts with its data, and the original stays as it was",
  async () => {
    const first = await install(original);
    await first.process.stop();
    const machine = path.join(held.folder, "machine");
    await mkdir(path.join(machine, "clusters"), { recursive: true });
    copyFolder(original, path.join(machine, "data"));
    copyFolder(path.dirname(first.pgdata), path.join(machine, "clusters"));
    const onCopiedMachine = [
      ...["unshare", "-m", "--propagation=private", "sh", "-c"],
      'mount --bind "$0/data" "$1" && mount --bind "$0/clusters" "$2" && shift 2 && exec "$@"',
      ...[machine, original, SYSTEM_HOME],
    ];
    const [command = "", ...args] = [
      ...onCopiedMachine,
      process.execPath,
      await compiledOf(holder),
      original,
    ];
    const copied = await readyOf(await startProcess(command, args));
    expect(copied.pgdata).toBe(first.pgdata);
    expect(await rowsOf(copied)).toBe(1);
    await query(copied.url, "insert into kept values (2)");
    await copied.process.stop();
    expect(await rowsOf(await start(original))).toBe(1);
  },
);

test("a copy with its own database starts beside the original", async () => {
  useOpenFolder();
  const first = await install(original);
  await first.process.stop();
  copyFolder(original, copy);
  const [one, two] = await Promise.all([start(original), start(copy)]);
  await query(two.url, "insert into kept values (2)");
  expect([await rowsOf(one), await rowsOf(two)]).toEqual([1, 2]);
  expect(new URL(one.url).port).not.toBe(new URL(two.url).port);
  expect([isRunning(one.pid), isRunning(two.pid)]).toEqual([true, true]);
});

test("a copy of a running data directory is not locked by the original, and asks for --adopt", async () => {
  useOpenFolder();
  const running = await install(original);
  await query(running.url, "checkpoint");
  copyFolder(original, copy);
  const reason = await rejectionOf(copy);
  expect(reason).toContain(`was copied from ${original} while the database was running`);
  expect(await rowsOf(await start(copy, "--adopt"))).toBe(1);
  expect(isRunning(running.pid)).toBe(true);
  expect(await rowsOf(running)).toBe(1);
});

test("a killed installation starts after a move without --adopt", async () => {
  useOpenFolder();
  await (await install(original)).process.killTree();
  await held.isStopped();
  await rename(original, copy);
  expect(await rowsOf(await start(copy))).toBe(1);
});

test.runIf(isRoot)("a linked cluster is copied as a link, so it still belongs to the original", async () => {
  useOpenFolder();
  const first = await install(original);
  await first.process.stop();
  await rename(first.pgdata, path.join(held.folder, "big disk"));
  await symlink(path.join(held.folder, "big disk"), first.pgdata);
  const running = await start(original);
  expect(await rowsOf(running)).toBe(1);
  copyFolder(original, copy);
  expect(await rejectionOf(copy)).toContain(`is a copy of ${original}`);
  expect(isRunning(running.pid)).toBe(true);
  await running.process.stop();
  // Release 0.2.0 records no owner.
  await rm(path.join(held.folder, "big disk", "backstamp.owner"));
  expect(await rejectionOf(original)).toMatch(
    /postgres is a link, .*If it is not a copy, start once with --adopt/,
  );
  expect(await rowsOf(await start(original, "--adopt"))).toBe(1);
});

test.runIf(isRoot)(
  "--adopt does not stop a database whose owner runs without a lock of the database",
  async () => {
    const running = await install(original);
    // Release 0.2.0 locks only its data directory.
    for (const name of await readdir(running.pgdata))
      if (name.startsWith("lock.")) await rm(path.join(running.pgdata, name));
    copyFolder(original, copy);
    expect(await rejectionOf(copy, "--adopt")).toMatch(
      /belongs to .*original, which is in use by process \d+ \(test\)\. To adopt/,
    );
    expect(isRunning(running.pid)).toBe(true);
  },
);

test("the data of two installations is not mixed", async () => {
  useOpenFolder();
  for (const dataDir of [original, copy]) await (await install(dataDir)).process.stop();
  await rm(path.join(copy, "postgres"), { recursive: true });
  expect(await rejectionOf(copy)).toContain("is incomplete");
  copyFolder(path.join(original, "postgres"), path.join(copy, "postgres"));
  expect(await rejectionOf(copy)).toContain("belongs to another installation");
});

test.runIf(isRoot)(
  "a database of release 0.2.0 is used by its data directory, and not by a copy",
  async () => {
    const first = await install(original);
    await first.process.stop();
    // As release 0.2.0 leaves it: a folder named after the path, and no record of the owner.
    const former = path.join(SYSTEM_HOME, createHash("sha256").update(original).digest("hex").slice(0, 16));
    held.homes.add(former);
    await rename(path.dirname(first.pgdata), former);
    await rm(path.join(former, "postgres", "backstamp.owner"));
    await rm(path.join(original, INSTALLATION_FILE));
    await writeFile(path.join(original, LOCATION_FILE), `${former}\n`);
    copyFolder(original, copy);

    expect(await rejectionOf(copy)).toContain(`The database in ${former} belongs to another data directory`);
    const upgraded = await start(original);
    expect(await rowsOf(upgraded)).toBe(1);
    expect(await rejectionOf(copy)).toContain(`is a copy of ${original}`);
    expect((await readFile(path.join(original, LOCATION_FILE), "utf8")).split("\n")[0]).toBe(former);
  },
);

test.runIf(isRoot)(
  "npm run dev and the command line reject a copy with instructions, and --adopt starts it",
  async () => {
    const launcher = await startLauncher({ dataDir: original, by: "compiled" });
    await bannerOf(launcher);
    const [home = ""] = (await readFile(path.join(original, LOCATION_FILE), "utf8")).split("\n");
    held.homes.add(home);
    held.servers.push(...launcher.launcherPids());
    copyFolder(original, copy);
    const rejected = await startLauncher({ dataDir: copy, by: "compiled" });
    expect(await rejected.exited).toMatchObject({ code: 1 });
    expect(rejected.stderr).toMatch(/^\nBackstamp did not start\.\nThe data directory .* is a copy of /);
    const command = await startProgram("server/startup/admin.ts", ["team", "list"], {
      env: { BACKSTAMP_DATA_DIR: copy, DATABASE_URL: "" },
    });
    expect((await command.exited).code).toBe(1);
    expect(command.stderr).toMatch(/^backstamp: The data directory .* is a copy of /);
    expect((await fetch(`${launcher.url}/api/health/ready`)).status).toBe(200);

    await launcher.killTree();
    const adopted = await startLauncher({ dataDir: copy, by: "compiled", args: ["--adopt"] });
    await bannerOf(adopted);
    held.servers.push(...adopted.launcherPids());
  },
);
