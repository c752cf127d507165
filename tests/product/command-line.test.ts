import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDatabase } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { readSettings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { createUser } from "#server/services/people/users";
import { createTeam } from "#server/services/teams";
import { buildDeps } from "#server/startup/deps";
import { acquireLock, findHolder } from "#server/startup/launcher/lock";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { installationSecret } from "../support/deps";
import { runCommand } from "../support/processes/command-line";
import { isRunning, killLeftovers } from "../support/processes/processes";
import { runProgram, startProgram } from "../support/processes/program";

// Commands that start a database take seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 });
const eventually = { timeout: 30_000, interval: 20 };
const createArgs = ["key", "create", "--scopes", "sending_access", "--json", "--name"];

let folder: string;
let dataDir: string;
let closers: (() => Promise<unknown>)[];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "backstamp command line "));
  // As root, the server runs as another user, which must be able to enter the folder.
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

const env = () => ({ BACKSTAMP_DATA_DIR: dataDir, DATABASE_URL: "" });
const program = "server/startup/admin.ts";
const backstamp = (args: string[]) => runCommand(args, { env: env() });
/** In its own process, where it matters which process holds the lock and stops the database. */
const backstampProcess = (args: string[]) => runProgram(program, args, { env: env() });

/** The PostgreSQL processes that use the data directory. */
async function serversOf(folder: string): Promise<number[]> {
  const found = await Promise.all(
    (await readdir("/proc")).map(async (name) => {
      const cwd = await readlink(`/proc/${name}/cwd`).catch(() => "");
      return cwd === path.join(folder, "postgres") && isRunning(Number(name)) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

test("if no Backstamp runs, a command starts the database, performs the first-time setup, and stops it", async () => {
  expect(await backstampProcess(["migrate"])).toMatchObject({ code: 0, stdout: "Created the tables.\n" });
  expect(await backstamp(["migrate"])).toMatchObject({ code: 0, stdout: "Already up to date.\n" });
  const first = await backstamp([...createArgs, "one"]);
  expect(first).toMatchObject({ code: 0 });
  expect(await serversOf(dataDir)).toEqual([]);
  expect(await findHolder(dataDir)).toBeNull();
  const secrets = path.join(dataDir, "secrets.json");
  expect((await stat(secrets)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(secrets, "utf8"))).toMatchObject({
    adminPassword: expect.any(String),
    firstKeyToken: expect.stringMatching(/^re_/),
  });

  // Two concurrent commands: one waits for the other.
  const [listed, second] = await Promise.all(
    [
      ["key", "list"],
      [...createArgs, "two"],
    ].map(backstampProcess),
  );
  expect([listed?.code, second?.code]).toEqual([0, 0]);
  expect(listed?.stdout).toContain(JSON.parse(first.stdout).id);
  expect(await serversOf(dataDir)).toEqual([]);
});

test("a killed command does not affect the next one", async () => {
  const killed = await startProgram(program, ["team", "list"], { env: env() });
  await vi.waitFor(async () => expect(await serversOf(dataDir)).not.toEqual([]), eventually);
  await killed.kill();
  expect(await backstamp(["team", "list"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/First/),
  });
  expect(await serversOf(dataDir)).toEqual([]);
});

test("a stop signal also stops the command's database", async () => {
  const stopped = await startProgram(program, ["team", "list"], { env: env() });
  await vi.waitFor(async () => expect(await serversOf(dataDir)).not.toEqual([]), eventually);
  await stopped.stop("SIGINT");
  expect(await serversOf(dataDir)).toEqual([]);
  expect(await findHolder(dataDir)).toBeNull();
});

test("while Backstamp runs, a command uses its database and leaves it running", async () => {
  const taken = await acquireLock(dataDir, "dev");
  if (!("lock" in taken)) throw new Error("the lock is not free");
  closers.push(() => taken.lock.release());
  // A command waits for a Backstamp that is still starting.
  const early = backstamp([...createArgs, "early"]);
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, quick: true });
  closers.push(() => server.stop());
  taken.lock.describe({ databaseUrl: server.url, publicUrl: "https://mail.example.net" });
  await migrateDatabase(server.url);
  const settings = { ...readSettings({}, "dev"), databaseUrl: server.url };
  const built = buildDeps(settings, { log: silentLog });
  closers.push(() => built.close());
  const team = await createTeam(built.deps, { name: "Running" });

  expect(JSON.parse((await early).stdout)).toMatchObject({ name: "early", team_id: team.id });
  expect((await backstamp(["team", "list"])).stdout).toMatch(/Running/);

  // Links use the public URL of the running Backstamp, not one from this command's settings.
  const person = { email: "ann@example.com", password: "correct horse battery" };
  await createUser(built.deps, { ...person, teamId: team.id, role: "owner" });
  const { stdout } = await backstamp(["user", "reset-password", person.email]);
  expect(stdout).toMatch(/^ {2}https:\/\/mail\.example\.net\/login\/reset#[\w-]{43}$/m);

  const worker = await startProgram(program, ["worker"], {
    env: { ...env(), BACKSTAMP_SECRET: installationSecret },
  });
  await worker.waitFor(/"worker\.ready".*"transport":"capture"/);
  expect(await worker.stop("SIGTERM")).toEqual({ code: 0, signal: null });

  expect(isRunning(server.pid)).toBe(true);
  const database = openDatabase(server.url, { connectionsMax: 2 });
  closers.push(() => database.close());
  expect(await database.hot`select name from teams`).toMatchObject([{ name: "Running" }]);
  expect((await findHolder(dataDir))?.pid).toBe(process.pid);
});

test("a worker without a database reports what is missing", async () => {
  expect(await backstamp(["worker"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /^backstamp: DATABASE_URL is not set, and no Backstamp is running with .* start Backstamp: npm start\n$/,
    ),
  });
});

test("a worker without the installation's secret does not start, because it could not decrypt keys or sign links", async () => {
  const unreachable = {
    DATABASE_URL: "postgres://127.0.0.1:9/backstamp",
    BACKSTAMP_URL: "https://mail.example.com",
  };
  expect(await runCommand(["worker"], { env: { ...env(), ...unreachable } })).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^backstamp: BACKSTAMP_SECRET is not set\./),
  });
});

test("secret rotate replaces the generated secret, keeps the former one, and encrypts what is stored", async () => {
  const added = await backstamp(["relay", "add", "main", "smtp://user:password@smtp.example.com:587"]);
  expect(added).toMatchObject({ code: 0 });
  const file = path.join(dataDir, "secrets.json");
  const readSecrets = async () => JSON.parse(await readFile(file, "utf8"));
  const before = await readSecrets();
  const rotated = await backstamp(["secret", "rotate", "--json"]);
  expect(rotated).toMatchObject({ code: 0, stderr: "" });
  const after = await readSecrets();
  expect(after.secret).not.toBe(before.secret);
  expect(after).toEqual({ ...before, secret: after.secret, oldSecrets: [before.secret] });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(dataDir)).filter((name) => /^secrets\.json./.test(name))).toEqual([]);
  const { data, ...result } = JSON.parse(rotated.stdout);
  expect(result).toMatchObject({ is_active: true, is_complete: true, unreadable: 0 });
  expect(data).toMatchObject([
    { state: "current", configured_as: "secret", stored_values: [{ name: "relays", count: 1 }] },
    { state: "former", configured_as: "oldSecrets, entry 1", stored_values: [], is_removable: false },
  ]);
  expect(rotated.stdout).not.toContain(after.secret);
  const kept = await backstamp(["secret", "remove", data[1].id]);
  expect(kept).toMatchObject({ code: 1, stderr: expect.stringMatching(/needed until \d{4}-/) });

  // Another secret in the file is noticed, and what to do is said.
  await writeFile(file, JSON.stringify({ ...after, secret: "a".repeat(43), oldSecrets: [] }));
  const refused = await backstamp(["secret", "status"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("secrets.json of the data directory"),
  });
  await writeFile(file, JSON.stringify(after));
  expect(await backstamp(["secret", "status"])).toMatchObject({ code: 0 });
});
