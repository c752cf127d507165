import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
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
  await first.lock.describe({ url: "http://localhost:3000", databaseUrl: "postgres://x" });
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
  expect(await readdir(folder)).toEqual([expect.stringMatching(/^lock-.*\.socket$/), "lock.2"]);
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
  expect(await readdir(folder)).toEqual([expect.stringMatching(/^lock-.*\.socket$/), "lock.2"]);
  for (const contender of contenders) contender.child.stdin.end();
  await Promise.all(contenders.map(({ child }) => new Promise((resolve) => child.once("close", resolve))));
}, 60_000);

test("a lock whose pid was reused by another process is free", async () => {
  const taken = await acquireLock(folder, "dev");
  expect(taken).toHaveProperty("lock");
  const file = path.join(folder, "lock.1");
  const record = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify({ ...record, life: "another boot/1" }));
  expect(await findHolder(folder)).toBeNull();
  await writeFile(file, "torn");
  expect(await acquireLock(folder, "dev")).toHaveProperty("lock");
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
