import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDatabase } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { buildDeps } from "#server/boot/deps";
import { startEmbeddedPostgres } from "#server/boot/embedded";
import { findHolder, takeLock } from "#server/boot/lock";
import { readSettings } from "#server/env";
import { silentLog } from "#server/log";
import { createTeam } from "#server/services/teams";
import { isRunning, killLeftovers } from "../support/processes";
import { runProgram, startProgram } from "../support/program";

// Each command is a process of its own, which starts a database first.
vi.setConfig({ testTimeout: 240_000 });
const eventually = { timeout: 30_000, interval: 20 };
const createArgs = ["key", "create", "--scopes", "sending_access", "--json", "--name"];

let folder: string;
let dataDir: string;
let closers: (() => Promise<unknown>)[];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "posthorn command line "));
  // As root the server is another user, who has to pass through.
  await chmod(folder, 0o755);
  dataDir = path.join(folder, "data");
  closers = [];
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  killLeftovers();
  for (const pid of await serversOf(dataDir)) process.kill(pid, "SIGKILL");
  await vi.waitFor(async () => expect(await serversOf(dataDir)).toEqual([]), eventually);
  await rm(folder, { recursive: true, force: true });
});

const env = () => ({ POSTHORN_DATA_DIR: dataDir, DATABASE_URL: "" });
const posthorn = (args: string[]) => runProgram("server/boot/admin.ts", args, { env: env() });

/** The PostgreSQL processes that work in the data directory. */
async function serversOf(folder: string): Promise<number[]> {
  const found = await Promise.all(
    (await readdir("/proc")).map(async (name) => {
      const cwd = await readlink(`/proc/${name}/cwd`).catch(() => "");
      return cwd === path.join(folder, "postgres") && isRunning(Number(name)) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

test("where nothing runs, a command starts the database for itself, makes what a first start makes, and ends it", async () => {
  const first = await posthorn([...createArgs, "one"]);
  expect(first).toMatchObject({ code: 0 });
  expect(await serversOf(dataDir)).toEqual([]);
  expect(await findHolder(dataDir)).toBeNull();
  const secrets = path.join(dataDir, "secrets.json");
  expect((await stat(secrets)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(secrets, "utf8"))).toMatchObject({
    adminPassword: expect.any(String),
    firstKeyToken: expect.stringMatching(/^re_/),
  });

  // Two at once: one waits for the other.
  const [listed, second] = await Promise.all([posthorn(["key", "list"]), posthorn([...createArgs, "two"])]);
  expect([listed.code, second.code]).toEqual([0, 0]);
  expect(listed.stdout).toContain(JSON.parse(first.stdout).id);
  expect(await serversOf(dataDir)).toEqual([]);
});

test("a command that was killed does not hinder the next one", async () => {
  const killed = await startProgram("server/boot/admin.ts", ["team", "list"], { env: env() });
  await vi.waitFor(async () => expect(await serversOf(dataDir)).not.toEqual([]), eventually);
  await killed.kill();
  expect(await posthorn(["team", "list"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/First/) });
  expect(await serversOf(dataDir)).toEqual([]);
});

test("a command that is told to stop takes its database along", async () => {
  const stopped = await startProgram("server/boot/admin.ts", ["team", "list"], { env: env() });
  await vi.waitFor(async () => expect(await serversOf(dataDir)).not.toEqual([]), eventually);
  await stopped.stop("SIGINT");
  expect(await serversOf(dataDir)).toEqual([]);
  expect(await findHolder(dataDir)).toBeNull();
});

test("beside a running Posthorn a command works in its database, and leaves it running", async () => {
  const taken = await takeLock(dataDir, "dev");
  if (!("lock" in taken)) throw new Error("the lock is not free");
  closers.push(() => taken.lock.release());
  // What is still starting is waited for.
  const early = posthorn([...createArgs, "early"]);
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, quick: true });
  closers.push(() => server.stop());
  await taken.lock.describe({ databaseUrl: server.url });
  await migrateDatabase(server.url);
  const settings = { ...readSettings({}, "dev"), databaseUrl: server.url };
  const built = buildDeps(settings, { log: silentLog });
  closers.push(() => built.close());
  const team = await createTeam(built.deps, { name: "Running" });

  expect(JSON.parse((await early).stdout)).toMatchObject({ name: "early", team_id: team.id });
  expect((await posthorn(["team", "list"])).stdout).toMatch(/Running/);

  const worker = await startProgram("server/boot/admin.ts", ["worker"], { env: env() });
  await worker.waitFor(/"worker\.ready".*"transport":"capture"/);
  expect(await worker.stop("SIGTERM")).toEqual({ code: 0, signal: null });

  expect(isRunning(server.pid)).toBe(true);
  const database = openDatabase(server.url, { connectionsMax: 2 });
  closers.push(() => database.close());
  expect(await database.hot`select name from teams`).toMatchObject([{ name: "Running" }]);
  expect((await findHolder(dataDir))?.pid).toBe(process.pid);
});

test("a worker without a queue says what is missing", async () => {
  expect(await posthorn(["worker"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^posthorn: DATABASE_URL is not set, and no Posthorn runs with .*\.\n$/),
  });
});
