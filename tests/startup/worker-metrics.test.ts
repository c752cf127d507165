import { expect, test } from "vitest";
import { readSettings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { runWorker } from "#server/startup/worker";
import { installationSecret } from "../support/deps";
import { forEachTest } from "../support/fixtures";
import { callApi } from "../support/rest";
import { createWorld } from "../support/world";

const token = "the-token-of-prometheus-0123456789";
const { error, warn } = silentLog;

const world = forEachTest(() => createWorld());

const settingsFor = (more: Record<string, string>) => ({
  ...readSettings(
    {
      DATABASE_URL: world.databaseUrl,
      BACKSTAMP_URL: "http://localhost:3000",
      BACKSTAMP_SECRET: installationSecret,
      SMTP_URL: "capture:",
      ...more,
    },
    "start",
  ),
  databaseUrl: world.databaseUrl,
});

test("a worker serves its own metrics on loopback, only with the token", async () => {
  const ready: { event: string; port?: number }[] = [];
  const log = { error, warn, info: (event: string, facts: object = {}) => ready.push({ event, ...facts }) };
  const settings = settingsFor({ BACKSTAMP_METRICS_TOKEN: token });
  const worker = await runWorker({ ...settings, metricsListener: { host: "127.0.0.1", port: 0 } }, { log });
  const { port, ...event } = ready.find(({ event }) => event === "metrics.ready") ?? {};
  expect(event).toEqual({ event: "metrics.ready", host: "127.0.0.1" });
  const url = `http://127.0.0.1:${port}`;
  const right = await callApi(url, "GET", "/api/metrics", { token });
  expect(right.status).toBe(200);
  expect(right.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(right.text).toMatch(/^backstamp_build_info\{version="[\d.]+",role="worker"\} 1$/m);
  expect(right.text).toContain("process_cpu_seconds_total");
  // The figures of the installation come from the web processes.
  expect(right.text).not.toContain("backstamp_queue_depth");
  for (const wrong of ["", `${token}x`, token.slice(1)])
    expect(await callApi(url, "GET", "/api/metrics", { token: wrong })).toMatchObject({
      status: 401,
      text: expect.not.stringContaining("backstamp_build_info"),
    });
  expect((await callApi(url, "GET", "/", { token })).status).toBe(404);
  expect((await callApi(url, "POST", "/api/metrics", { token, body: {} })).status).toBe(404);

  // A second worker cannot have the same port. It logs that, and delivers.
  const faults: string[] = [];
  const own = settingsFor({ BACKSTAMP_METRICS_TOKEN: token, BACKSTAMP_METRICS_PORT: String(port) });
  const other = await runWorker(own, { log: { ...log, error: (event) => faults.push(event) } });
  expect(faults).toEqual(["metrics.not_listening"]);
  await other.stop();
  await worker.stop();
  await expect(callApi(url, "GET", "/api/metrics", { token })).rejects.toThrow();
});
