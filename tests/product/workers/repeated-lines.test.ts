import { afterEach, expect, test, vi } from "vitest";
import { startTap, type Tap } from "../../support/database/database-tap";
import { killWorkers, spawnWorker } from "../../support/processes/worker-process";
import { createWorld, type World } from "../../support/world";

let world: World;
let tap: Tap;

afterEach(async () => {
  await killWorkers();
  await tap.close();
  await world.close();
});

const eventually = { timeout: 60_000, interval: 50 };

test("a worker that loses its database writes one line, and the count when it exits", {
  timeout: 120_000,
}, async () => {
  world = await createWorld();
  const url = new URL(world.databaseUrl);
  tap = await startTap({ host: url.hostname, port: Number(url.port) });
  url.port = String(tap.port);
  const worker = spawnWorker({ databaseUrl: url.href, smtpUrl: "smtp://127.0.0.1:1" });
  const beats = async () => (await world.hot`select from workers`).length;
  await vi.waitFor(async () => expect(await beats()).toBe(1), eventually);
  tap.refuse(true);
  await vi.waitFor(() => expect(worker.output()).toContain('"database.away"'), eventually);
  await vi.waitFor(() => expect(tap.refused()).toBeGreaterThan(120), eventually);
  worker.signal("SIGTERM");
  await worker.exited;

  const lines = worker
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): { event: string; repeated?: number } => JSON.parse(line));
  const failed = lines.filter(({ event }) => event === "database.away");
  const attempts = failed.reduce((sum, { repeated = 1 }) => sum + repeated, 0);
  expect(attempts).toBeGreaterThan(failed.length);
  // One when it begins, and one with the count at the exit.
  expect(failed).toHaveLength(2);
  expect(failed.some(({ repeated }) => repeated !== undefined)).toBe(true);
});
