import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { descendantsOf, isRunning, killLeftovers, runTsx, startProcess, startTsx } from "./processes";

let folder: string;
const eventually = { timeout: 20_000, interval: 20 };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "backstamp-processes-"));
});
afterEach(killLeftovers);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function script(text: string): Promise<string> {
  const file = path.join(folder, `${crypto.randomUUID()}.ts`);
  await writeFile(file, text);
  return file;
}

const parent = `
  import { spawn } from "node:child_process";
  const sleeper = ["-e", "setInterval(() => {}, 1000)"];
  const child = spawn(process.execPath, sleeper, { detached: true, stdio: "inherit" });
  console.log("child " + child.pid);
  setInterval(() => {}, 1000);`;

const childPid = async (started: Awaited<ReturnType<typeof startTsx>>): Promise<number> =>
  Number((await started.waitFor(/child (\d+)/))[1]);

test("waits for the output of a program, and returns its exit code", async () => {
  const file = await script(`console.log("one"); console.error("two"); process.exitCode = 3;`);
  const started = await startTsx(file);
  expect((await started.waitFor(/t(w)o/))[1]).toBe("w");
  expect(await started.exited).toEqual({ code: 3, signal: null });
  expect([started.stdout, started.stderr]).toEqual(["one\n", "two\n"]);
});

test("waiting for missing output rejects when the program exits, with its output", async () => {
  const started = await startTsx(await script(`console.log("only this")`));
  await expect(started.waitFor(/something else/)).rejects.toThrow(/ended \(with 0\).*only this/s);
});

test("a timeout while waiting kills the program", async () => {
  const started = await startTsx(await script(`console.log("here"); setInterval(() => {}, 1000)`));
  await started.waitFor(/here/);
  await expect(started.waitFor(/never/, { timeoutMs: 50 })).rejects.toThrow(/waited 50 ms.*here/s);
  expect(isRunning(started.pid)).toBe(false);
});

test("a program gets only the specified environment variables", async () => {
  const file = await script(`console.log(JSON.stringify(Object.keys(process.env)))`);
  const { stdout } = await runTsx(file, [], { env: { GIVEN: "yes" } });
  expect(JSON.parse(stdout)).toContain("GIVEN");
  expect(JSON.parse(stdout)).not.toContain("VITEST");
});

test("killTree also kills children in other sessions", async () => {
  const started = await startTsx(await script(parent));
  const child = await childPid(started);
  expect(descendantsOf(started.pid)).toContain(child);
  expect(await started.killTree()).toEqual({ code: null, signal: "SIGKILL" });
  await vi.waitFor(() => expect(isRunning(child)).toBe(false), eventually);
});

test("kill does not kill the children of the process", async () => {
  const started = await startTsx(await script(parent));
  const child = await childPid(started);
  await started.kill();
  expect(isRunning(child)).toBe(true);
  process.kill(child, "SIGKILL");
});

test("a missing program rejects immediately", async () => {
  await expect(startProcess(path.join(folder, "nothing"), [])).rejects.toThrow(/ENOENT/);
});
