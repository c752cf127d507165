import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { bannerOf, type Launcher, paste, startLauncher } from "../support/processes/launcher";
import { isRunning, killLeftovers } from "../support/processes/processes";
import { runProgram } from "../support/processes/program";

/* The embedded database from a backup to its wipe, restore and release, by the commands of the operator. */

const passphrase = "a passphrase of this test";
const eventually = { timeout: 60_000, interval: 50 };
const programs = spawnSync("sh", ["-c", "command -v age && command -v script"], { encoding: "utf8" });
const ageMissing = programs.status === 0 ? null : "install the packages age and bsdutils";
if (ageMissing) process.stdout.write(`NOT RUN: Debian's age opens a backup: ${ageMissing}.\n`);

let folder: string;
let dataDir: string;
let file: string;
const seen: number[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "backstamp-embedded-"));
  await chmod(folder, 0o755);
  dataDir = path.join(folder, "data");
  file = path.join(folder, "backstamp.tar.gz.age");
});
afterAll(async () => {
  killLeftovers();
  for (const pid of seen.filter(isRunning)) process.kill(pid, "SIGKILL");
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const backstamp = (...args: string[]) =>
  runProgram("server/startup/admin.ts", args, {
    env: { BACKSTAMP_DATA_DIR: dataDir, BACKSTAMP_BACKUP_PASSPHRASE: passphrase },
  });

async function start(): Promise<{ launcher: Launcher; send: string; token: string }> {
  const launcher = await startLauncher({ dataDir, by: "compiled" });
  const { send } = await bannerOf(launcher);
  seen.push(...launcher.launcherPids());
  return { launcher, send, token: /Bearer (re_[\w-]+)/.exec(send)?.[1] ?? "" };
}

type Started = Awaited<ReturnType<typeof start>>;
const read = async ({ launcher, token }: Started, emailId: unknown) => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${launcher.url}/api/emails/${emailId}`, { headers });
  return (await response.json()) as { status: string; subject: string };
};

const stop = async (launcher: Launcher) => {
  launcher.signal("SIGTERM");
  await launcher.exited;
};

test("an embedded installation is backed up while it runs, wiped and restored: its queue is held until the release", async () => {
  const first = await start();
  const { id: delivered } = paste(first.send);
  await vi.waitFor(
    async () => expect(await read(first, delivered)).toMatchObject({ status: "delivered" }),
    eventually,
  );
  // What is queued stays queued until the backup is made.
  expect(await backstamp("queue", "pause", "--reason", "Backup")).toMatchObject({ code: 0 });
  const { id } = paste(first.send);
  const made = await backstamp("backup", file);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining(`to ${file}`) });
  await stop(first.launcher);

  await rm(dataDir, { recursive: true });
  const restored = await backstamp("restore", file);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("HELD: 1 delivery") });

  const second = await start();
  expect(second.token).toBe(first.token);
  expect(await read(second, delivered)).toMatchObject({ subject: "First email" });
  expect(await backstamp("queue", "resume")).toMatchObject({ code: 0 });
  const { id: fresh } = paste(second.send);
  await vi.waitFor(
    async () => expect(await read(second, fresh)).toMatchObject({ status: "delivered" }),
    eventually,
  );
  expect(await read(second, id)).toMatchObject({ status: "queued" });
  expect(await backstamp("release")).toMatchObject({ code: 0, stdout: "1 delivery is held.\n" });
  expect(await backstamp("release", "--all")).toMatchObject({
    code: 0,
    stdout: "Released 1 delivery. No email is held.\n",
  });
  await vi.waitFor(
    async () => expect(await read(second, id)).toMatchObject({ status: "delivered" }),
    eventually,
  );
  await stop(second.launcher);
});

test.skipIf(ageMissing !== null)("Debian's age and tar open the encrypted backup", async () => {
  const archive = path.join(folder, "backup.tar.gz");
  // age reads a passphrase only from a terminal, which `script` provides.
  const decrypted = spawnSync("script", ["-qec", `age --decrypt --output ${archive} ${file}`, "/dev/null"], {
    input: `${passphrase}\n`,
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(decrypted).toMatchObject({ status: 0 });
  const listed = spawnSync("tar", ["--list", "--gzip", "--file", archive], { encoding: "utf8" });
  expect(listed).toMatchObject({ status: 0, stderr: "" });
  expect(listed.stdout).toMatch(/emails/);
  expect((await readFile(file)).subarray(0, 21).toString()).toBe("age-encryption.org/v1");
  const wrong = spawnSync("script", ["-qec", `age --decrypt --output ${archive}.2 ${file}`, "/dev/null"], {
    input: "another passphrase\n",
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(wrong.status).not.toBe(0);
});
