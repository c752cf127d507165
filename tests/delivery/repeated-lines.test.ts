import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { killWorkers, spawnWorker } from "../support/processes/worker-process";

afterEach(() => killWorkers());

const eventually = { timeout: 60_000, interval: 50 };

test("a worker without its database writes each fault once, and the counts when it exits", {
  timeout: 120_000,
}, async () => {
  let connections = 0;
  const database = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {});
    socket.destroy();
  });
  await new Promise<void>((resolve) => database.listen(0, "127.0.0.1", resolve));
  const { port } = database.address() as AddressInfo;
  const worker = spawnWorker({
    databaseUrl: `postgres://nobody@127.0.0.1:${port}/none`,
    smtpUrl: "smtp://127.0.0.1:1",
  });
  await vi.waitFor(() => expect(connections).toBeGreaterThan(120), eventually);
  worker.signal("SIGTERM");
  await worker.exited;
  await new Promise((resolve) => database.close(resolve));

  const lines = worker
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): { event: string; code?: string; repeated?: number } => JSON.parse(line));
  const failed = lines.filter(({ event }) => event === "worker.claim_failed");
  const attempts = failed.reduce((sum, { repeated = 1 }) => sum + repeated, 0);
  const codes = new Set(failed.map(({ code }) => code));
  expect(attempts).toBeGreaterThan(failed.length);
  expect(failed.length).toBeLessThanOrEqual(2 * codes.size);
  expect(failed.some(({ repeated }) => repeated !== undefined)).toBe(true);
});
