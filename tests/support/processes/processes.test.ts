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

test("what a program writes can be waited for, and its end is told with its code", async () => {
  const file = await script(`console.log("one"); console.error("two"); process.exitCode = 3;`);
  const started = await startTsx(file);
  expect((await started.waitFor(/t(w)o/))[1]).toBe("w");
  expect(await started.exited).toEqual({ code: 3, signal: null });
  expect([started.stdout, started.stderr]).toEqual(["one\n", "two\n"]);
});

test("waiting for a line that never comes ends with the program, and says what it wrote", async () => {
  const started = await startTsx(await script(`console.log("only this")`));
  await expect(started.waitFor(/something else/)).rejects.toThrow(/ended \(with 0\).*only this/s);
});

test("waiting too long ends the program", async () => {
  const started = await startTsx(await script(`console.log("here"); setInterval(() => {}, 1000)`));
  await started.waitFor(/here/);
  await expect(started.waitFor(/never/, { timeoutMs: 50 })).rejects.toThrow(/waited 50 ms.*here/s);
  expect(isRunning(started.pid)).toBe(false);
});

test("a program sees only the environment that it was given", async () => {
  const file = await script(`console.log(JSON.stringify(Object.keys(process.env)))`);
  const { stdout } = await runTsx(file, [], { env: { GIVEN: "yes" } });
  expect(JSON.parse(stdout)).toContain("GIVEN");
  expect(JSON.parse(stdout)).not.toContain("VITEST");
});

test("killing a tree reaches children in sessions of their own", async () => {
  const started = await startTsx(await script(parent));
  const child = await childPid(started);
  expect(descendantsOf(started.pid)).toContain(child);
  expect(await started.killTree()).toEqual({ code: null, signal: "SIGKILL" });
  await vi.waitFor(() => expect(isRunning(child)).toBe(false), eventually);
});

test("killing one process leaves its children alone", async () => {
  const started = await startTsx(await script(parent));
  const child = await childPid(started);
  await started.kill();
  expect(isRunning(child)).toBe(true);
  process.kill(child, "SIGKILL");
});

test("a program that is not there is an error at once", async () => {
  await expect(startProcess(path.join(folder, "nothing"), [])).rejects.toThrow(/ENOENT/);
});
