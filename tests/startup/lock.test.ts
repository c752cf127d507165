import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireLock, findHolder } from "#server/startup/launcher/lock";
import { canUnshare } from "../support/processes/launcher";
import { projectRoot } from "../support/processes/processes";
import { compiledOf } from "../support/processes/program";

const contender = await compiledOf("tests/startup/contender.ts");
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "backstamp lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A process that acquires the lock on a line of standard input, and prints the result. */
function startContender(prefix: string[] = []) {
  const program = [process.execPath, contender, folder];
  const [command = "", ...args] = [...prefix, ...program];
  const child = spawn(command, args, { cwd: projectRoot, stdio: ["pipe", "pipe", "inherit"] });
  const lines: string[] = [];
  let wake = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    lines.push(...chunk.toString().trim().split("\n"));
    wake();
  });
  return {
    child,
    async line(): Promise<string> {
      while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return lines.shift() ?? "";
    },
  };
}

test("a lock is held until it is released, and it describes its holder", async () => {
  const first = await acquireLock(folder, "dev");
  if (!("lock" in first)) throw new Error("not taken");
  first.lock.describe({ url: "http://localhost:3000", databaseUrl: "postgres://x" });
  const holder = {
    pid: process.pid,
    purpose: "dev",
    url: "http://localhost:3000",
    databaseUrl: "postgres://x",
  };
  expect(await acquireLock(folder, "dev")).toMatchObject({ holder });
  expect(await findHolder(folder)).toMatchObject(holder);
  await first.lock.release();
  expect(await findHolder(folder)).toBeNull();
  expect(await acquireLock(folder, "dev")).toHaveProperty("lock");
  expect(await readdir(folder)).toEqual(["lock.2"]);
});

test("of many processes that try to acquire a dead process's lock, exactly one succeeds, and the next gets its holder", async () => {
  const killed = startContender();
  await killed.line();
  killed.child.stdin.write("go\n");
  expect(await killed.line()).toBe("taken");
  expect(await findHolder(folder)).toMatchObject({ pid: killed.child.pid });
  const contenders = Array.from({ length: 6 }, () => startContender());
  await Promise.all(contenders.map((contender) => contender.line()));
  const ended = new Promise((resolve) => killed.child.once("close", resolve));
  killed.child.kill("SIGKILL");
  await ended;
  for (const contender of contenders) contender.child.stdin.write("go\n");
  const said = await Promise.all(contenders.map((contender) => contender.line()));
  const winner = contenders[said.indexOf("taken")];
  expect(said.filter((line) => line === "taken")).toHaveLength(1);
  expect(said.filter((line) => line === `held by ${winner?.child.pid}`)).toHaveLength(contenders.length - 1);
  expect(await readdir(folder)).toEqual(["lock.2"]);
  for (const contender of contenders) contender.child.stdin.end();
  await Promise.all(contenders.map(({ child }) => new Promise((resolve) => child.once("close", resolve))));
}, 60_000);

test("a stopped folder contains no socket, and a damaged lock is free", async () => {
  const taken = await acquireLock(folder, "dev");
  if (!("lock" in taken)) throw new Error("not taken");
  await taken.lock.release();
  expect((await stat(path.join(folder, "lock.1"))).isFile()).toBe(true);
  await writeFile(path.join(folder, "lock.1"), "torn");
  expect(await findHolder(folder)).toBeNull();
  expect(await acquireLock(folder, "dev")).toHaveProperty("lock");
});

test("a copy of a locked folder is free, and a link to the folder is not", async () => {
  const original = path.join(folder, "original");
  expect(await acquireLock(original, "dev")).toHaveProperty("lock");
  expect(spawnSync("cp", ["-a", original, path.join(folder, "copy")]).status).toBe(0);
  await symlink(original, path.join(folder, "link"));
  expect(await findHolder(path.join(folder, "copy"))).toBeNull();
  expect(await findHolder(path.join(folder, "link"))).toMatchObject({ pid: process.pid });
});

test("a folder whose path is too long for a socket is locked, for its owner only", async () => {
  const long = path.join(folder, "d".repeat(200));
  expect(await acquireLock(long, "dev")).toHaveProperty("lock");
  expect(await acquireLock(long, "dev")).toMatchObject({ holder: { pid: process.pid } });
  expect((await stat(path.join(long, "lock.1"))).mode & 0o777).toBe(0o600);
});

test.runIf(canUnshare)("a process in another container holds the lock as long as it lives", async () => {
  const container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const first = startContender(container);
  const second = startContender(container);
  for (const each of [first, second]) await each.line();
  first.child.stdin.write("go\n");
  expect(await first.line()).toBe("taken");
  second.child.stdin.write("go\n");
  expect(await second.line()).toMatch(/^held by \d+$/);
  expect(await findHolder(folder)).toMatchObject({ purpose: "test" });
  const ended = new Promise((resolve) => first.child.once("close", resolve));
  first.child.kill("SIGKILL");
  await ended;
  expect(await findHolder(folder)).toBeNull();
  expect(await acquireLock(folder, "dev")).toHaveProperty("lock");
  second.child.stdin.end();
});
