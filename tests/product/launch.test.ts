import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test, vi } from "vitest";
import {
  bannerOf,
  canUnshare,
  type Launcher,
  mountedAt,
  paste,
  startLauncher,
} from "../support/processes/launcher";
import { isRunning } from "../support/processes/processes";
import { holdDatabases } from "./held-databases";

const eventually = { timeout: 60_000, interval: 50 };

const held = holdDatabases();

const start = () => startLauncher({ mode: "start", dataDir: held.folder, env: { HOST: "127.0.0.1" } });

function remember(launcher: Launcher): number[] {
  const launcherPids = launcher.launcherPids();
  held.servers.push(...launcherPids);
  return launcherPids;
}

const commandOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");

async function workerOf(launcher: Launcher): Promise<number> {
  for (const pid of remember(launcher)) if ((await commandOf(pid)).includes("worker-process")) return pid;
  throw new Error("there is no worker");
}

test("with an empty environment it serves in production mode, and its log contains no secret", async () => {
  const first = await start();
  const banner = await bannerOf(first);
  // After the worker process has reported, only the transport is missing.
  const readiness = async () => await (await fetch(`${first.url}/api/health/ready`)).json();
  await vi.waitFor(
    async () => expect(await readiness()).toMatchObject({ alarms: [{ alarm: "no_transport" }] }),
    eventually,
  );
  const secrets = JSON.parse(await readFile(path.join(held.folder, "secrets.json"), "utf8"));
  const { id } = paste(banner.send);
  const statusOf = (email: unknown) =>
    (paste(banner.read.replace("limit=1", "limit=10")).data as { id: string; status: string }[]).find(
      (one) => one.id === email,
    )?.status;
  await vi.waitFor(() => expect(statusOf(id)).toBe("delivered"), eventually);
  expect((await fetch(`${first.url}/login`)).status).toBe(200);
  expect(banner.text).toContain(path.join(held.folder, "secrets.json"));
  expect(banner.text).toContain("no_transport");

  // The worker is a separate process, and it is restarted when it dies.
  const worker = await workerOf(first);
  process.kill(worker, "SIGKILL");
  await first.waitFor(/worker\.died/);
  const { id: afterwards } = paste(banner.send);
  await vi.waitFor(() => expect(statusOf(afterwards)).toBe("delivered"), eventually);
  const second = await workerOf(first);
  expect(second).not.toBe(worker);

  // If only the launcher is killed, no worker remains, and the next start finds everything.
  await first.kill();
  await vi.waitFor(() => expect(isRunning(second)).toBe(false), eventually);
  const again = await start();
  const last = await bannerOf(again);
  expect(paste(last.read).data).toMatchObject([{ id: afterwards }]);
  const launcherPids = remember(again);
  expect(await again.stop("SIGTERM", 60_000)).toEqual({ code: 0, signal: null });
  await vi.waitFor(() => expect(launcherPids.filter(isRunning)).toEqual([]), eventually);
  for (const output of [first.output, again.output])
    for (const secret of Object.values<string>(secrets)) expect(output).not.toContain(secret);
});

test.runIf(canUnshare)("without a build the start explains how to make one", async () => {
  const [unshare = "", ...rest] = mountedAt(held.folder);
  const hidden = rest.map((part) => part.replace("shift &&", "shift && mount -t tmpfs none .next &&"));
  const launcher = await startLauncher({
    mode: "start",
    dataDir: "/nonexistent",
    by: "npm",
    prefix: [unshare, ...hidden],
  });
  expect(await launcher.exited).toMatchObject({ code: 1 });
  expect(launcher.stderr).toContain("npm run build");
});
