import { beforeEach, describe, expect, test, vi } from "vitest";
import { TICK_WORKER_ID, workers } from "#db/schema/deliveries";
import { newId } from "#server/platform/ids";
import { createLimits } from "#server/platform/limits/limits";
import { silentLog } from "#server/platform/log";
import { createSharedReadiness } from "#server/services/health";
import { getInstallationFigures } from "#server/services/overview/installation-figures";
import { pauseQueue, resumeQueue } from "#server/services/pauses/pause";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { openDeps } from "../support/deps";
import { callApi, startRest } from "../support/rest";
import { openWorld } from "../support/world";

const world = await openWorld();
// Each test begins without workers, email, pauses and endpoints.
beforeEach(async () => {
  for (const table of ["workers", "emails", "deliveries", "queue_pauses", "webhook_deliveries", "webhooks"])
    await world.hot.unsafe(`delete from ${table}`);
});

const beat = (transport: string, id = newId(), host = "test") =>
  world.deps.db.insert(workers).values({ id, host, pid: 1, transport });
const ready = () => world.api("GET", "/api/health/ready");
const alarms = async () => {
  const { status, body } = await ready();
  expect(status).toBe(200);
  return ((body.alarms ?? []) as { alarm: string }[]).map(({ alarm }) => alarm);
};

describe("readiness", () => {
  test("has an alarm without a worker, which names the process to start, and is 200", async () => {
    const { status, body, headers } = await ready();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: "ready",
        alarms: [{ alarm: "no_worker", count: 1, message: expect.stringContaining("backstamp worker") }],
      },
    });
    expect(headers["x-ratelimit-limit"]).toBe("60");
  });

  test.each([
    ["thirty seconds after the last heartbeat of a worker", newId(), "20 seconds", "31 seconds"],
    ["ten minutes after the last round of an external scheduler", TICK_WORKER_ID, "9 minutes", "601 seconds"],
  ])("has the alarm %s", async (_, id, before, after) => {
    await beat("relay", id);
    const beatBefore = (interval: string) =>
      world.hot`update workers set beat_at = now() - ${interval}::interval`;
    await beatBefore(before);
    expect((await ready()).body).toEqual({ status: "ready" });
    await beatBefore(after);
    expect(await alarms()).toEqual(["no_worker"]);
  });

  test("has an alarm while sending is paused for the whole installation, and none after it is resumed", async () => {
    await beat("relay");
    const all = { teamId: null, domain: null };
    await pauseQueue(world.ctx, { ...all, reason: "A test" });
    expect(await alarms()).toEqual(["sending_paused"]);
    await resumeQueue(world.ctx, all);
    expect(await alarms()).toEqual([]);
  });

  test("has an alarm if email to real recipients waits because no transport is configured", async () => {
    await beat("none");
    const { status, body } = await ready();
    expect(status).toBe(200);
    expect(body.alarms).toMatchObject([
      { alarm: "no_transport", message: expect.stringContaining("SMTP_URL") },
    ]);
    await beat("capture");
    expect(await alarms()).toEqual([]);
  });

  test("has an alarm once the oldest due delivery has waited for 5 minutes, and none for email that is not due", async () => {
    await beat("relay");
    await world.send({ scheduledAt: new Date(world.clock.now().getTime() + 3_600_000).toISOString() });
    await world.send();
    const workersRun = () => world.hot`update workers set beat_at = now()`;
    await world.elapse("4 minutes");
    await workersRun();
    expect(await alarms()).toEqual([]);
    await world.elapse("2 minutes");
    await workersRun();
    const { status, body } = await ready();
    expect(status).toBe(200);
    expect(body.alarms).toMatchObject([
      { alarm: "delivery_backlog", count: 6, message: expect.stringContaining("6 minutes") },
    ]);
    await world.hot`update deliveries set due_at = now() + interval '1 day'`;
    expect(await alarms()).toEqual([]);
  });

  test.each(["its team", "the installation"])(
    "does not count the time that email waited for a pause of %s",
    async (of) => {
      await beat("relay");
      await world.send();
      const scope = { teamId: of === "its team" ? world.id : null, domain: null };
      await pauseQueue(world.ctx, { ...scope, reason: "Maintenance" });
      await world.elapse("2 days");
      await resumeQueue(world.ctx, scope);
      await world.hot`update workers set beat_at = now()`;
      expect(await alarms()).toEqual([]);
      const oldest = async () => (await getInstallationFigures(world.deps)).queues[0]?.oldestDueSeconds;
      expect(await oldest()).toBeLessThan(60);
      // What became due after the pause counts in full.
      await world.hot`update queue_pauses set lifted_at = now() - interval '1 hour'`;
      await world.hot`update deliveries set due_at = now() - interval '10 minutes'`;
      expect(await alarms()).toEqual(["delivery_backlog"]);
      expect(await oldest()).toBeGreaterThanOrEqual(600);
      expect(await oldest()).toBeLessThan(700);
    },
  );

  test("has an alarm for due webhook events of an endpoint that responds, and none for a paused or failing one", async () => {
    await beat("relay");
    await createWebhook(world.ctx, {
      url: "https://example.com/hook",
      events: ["email.queued"],
      status: "enabled",
    });
    await world.send();
    await world.hot`update deliveries set due_at = 'infinity'`;
    await world.elapse("10 minutes");
    await world.hot`update workers set beat_at = now()`;
    const { body } = await ready();
    expect(body.alarms).toMatchObject([{ alarm: "webhook_backlog", count: 10 }]);
    await world.hot`update webhooks set failing_since = now()`;
    expect(await alarms()).toEqual([]);
    await world.hot`update webhooks set failing_since = null, paused_until = now() + interval '1 hour'`;
    expect(await alarms()).toEqual([]);
  });

  test("has an alarm while the disk of the embedded database is nearly full", async () => {
    await beat("relay");
    const gib = 1024 ** 3;
    let freeBytes = gib;
    const readDisk = async () => ({ freeBytes, totalBytes: 100 * gib });
    const server = await startRest({ ...world.deps, readDisk });
    const read = () => callApi(server.baseUrl, "GET", "/api/health/ready");
    expect(await read()).toMatchObject({ status: 200, body: { alarms: [{ alarm: "disk_space" }] } });
    freeBytes = 50 * gib;
    expect((await read()).body).toEqual({ status: "ready" });
    await server.close();
  });
});

test.each([
  ["costs one reading while it is kept", 600_000, 1],
  ["is followed by another reading a second later", undefined, 2],
])("a flood of calls of readiness %s", async (_, keptMs, readings) => {
  let count = 0;
  const readDisk = async () => {
    count += 1;
    return { freeBytes: 1, totalBytes: 1 };
  };
  const server = await startRest({ ...world.deps, readDisk, getReadiness: createSharedReadiness(keptMs) });
  const read = () => callApi(server.baseUrl, "GET", "/api/health/ready");
  await Promise.all(Array.from({ length: 20 }, read));
  expect(await read()).toMatchObject({ status: 200, body: { alarms: expect.anything() } });
  await vi.waitFor(async () => {
    await read();
    expect(count).toBeGreaterThanOrEqual(readings);
  }, 20_000);
  if (readings === 1) expect(count).toBe(1);
  await server.close();
});

test("a database that cannot write is not ready, until it can again", async () => {
  const database = (await world.hot`select current_database() as name`)[0]?.name;
  await world.hot.unsafe(`alter database "${database}" set default_transaction_read_only = on`);
  const { deps, close } = openDeps(world.databaseUrl);
  const server = await startRest(deps);
  const read = () => callApi(server.baseUrl, "GET", "/api/health/ready");
  expect(await read()).toMatchObject({ status: 503, body: { reason: "database_not_writable" } });
  await world.hot.unsafe(`alter database "${database}" reset default_transaction_read_only`);
  await server.close();
  await close();
  expect((await ready()).status).toBe(200);
});

test("readiness reports dead name servers, a wrong clock, dead Redis and a killed worker", async () => {
  await beat("direct", newId(), "mail.example.com");
  const limits = createLimits({
    store: { kind: "redis", url: "redis://127.0.0.1:9" },
    clock: () => 90_000,
    log: silentLog,
  });
  // As after kill -9: the heartbeat stays.
  await beat("relay");
  await world.hot`update workers set beat_at = now() - interval '1 minute', started_at = now() - interval '1 hour'
    where transport = 'relay'`;
  await world.hot`update workers set started_at = now() - interval '1 hour' where transport = 'direct'`;
  const { deps, close } = openDeps(world.databaseUrl, { transportKind: "direct" });
  const server = await startRest({
    ...deps,
    machineClock: () => Date.now() + 3_600_000,
    checkLimitStore: limits.checkStore,
  });
  const { body } = await callApi(server.baseUrl, "GET", "/api/health/ready");
  expect((body.alarms as { alarm: string }[]).map(({ alarm }) => alarm)).toEqual([
    "name_servers",
    "clock_skew",
    "rate_limit_store",
    "worker_lost",
  ]);
  // Another worker has taken the place of the killed one.
  await beat("relay");
  expect(await alarms()).toEqual([]);
  await limits.close();
  await server.close();
  await close();
});

test("a reading of readiness that waits for a lock ends on the server too", async () => {
  const waiting = async () =>
    (
      await world.hot`select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database() and pid <> pg_backend_pid()`
    ).length;
  await world.hot.begin(async (tx) => {
    await tx`lock table workers in access exclusive mode`;
    expect(await alarms()).toEqual(["alarms_not_read"]);
    // Sooner than `lock_timeout` ends it.
    await vi.waitFor(async () => expect(await waiting()).toBe(0), 6_000);
  });
});

test("readiness warns if email is sent directly to MX hosts under a name that is not a full host name", async () => {
  await beat("relay");
  await beat("direct", newId(), "mail.example.org");
  expect((await ready()).body).toEqual({ status: "ready" });
  await beat("direct", newId(), "machine-7");
  const { status, body, text } = await ready();
  expect(status).toBe(200);
  expect(body).toEqual({
    status: "ready",
    alarms: [
      { alarm: "unqualified_name", count: 1, message: expect.stringContaining("Set BACKSTAMP_HOSTNAME") },
    ],
  });
  expect(text).not.toContain("machine-7");
  const names = { ...world.deps.names, mailHost: "mail.example.org" };
  const named = await startRest({ ...world.deps, names });
  expect((await callApi(named.baseUrl, "GET", "/api/health/ready")).body).toEqual({ status: "ready" });
  await named.close();
});

test("a wrong statement on a migrated database is an internal error, not a missing migration", async () => {
  const { token } = await world.key();
  await world.hot`alter table templates rename to renamed`;
  const { status, body, headers } = await world.api("GET", "/api/templates", { token });
  await world.hot`alter table renamed rename to templates`;
  expect({ status, name: body.name }).toEqual({ status: 500, name: "internal_server_error" });
  expect(headers).not.toHaveProperty("retry-after");
});

test("a database that lacks the newest migration is not ready, and one that a newer version migrated is", async () => {
  await beat("relay");
  await world.hot`update drizzle.__drizzle_migrations set created_at = created_at - 1`;
  expect((await ready()).body.reason).toBe("database_not_migrated");
  await world.hot`update drizzle.__drizzle_migrations set created_at = created_at + 2`;
  expect((await ready()).status).toBe(200);
  await world.hot`update drizzle.__drizzle_migrations set created_at = created_at - 1`;
});

test("without the database the service is alive, not ready, and rejects calls in JSON", async () => {
  const { deps, close } = openDeps("postgres://nobody@127.0.0.1:1/none");
  const { baseUrl, close: closeServer } = await startRest(deps);
  try {
    const { token } = await world.key();
    expect((await callApi(baseUrl, "GET", "/api/health")).body).toEqual({ status: "live" });
    const unready = await callApi(baseUrl, "GET", "/api/health/ready");
    expect(unready.status).toBe(503);
    expect(unready.body.reason).toBe("database_away");
    const call = await callApi(baseUrl, "GET", "/api/emails", { token });
    expect(call).toMatchObject({ status: 503, body: { name: "application_error" } });
    expect(call.headers["x-ratelimit-remaining"]).toBe("60");
    expect((await callApi(baseUrl, "GET", "/api/emails")).status).toBe(401);
  } finally {
    await closeServer();
    await close();
  }
});

/* The last test, because it deletes the tables. */
test("a database that is not migrated is reported as such, with what to do", async () => {
  const { token } = await world.key();
  await world.hot.unsafe("drop schema drizzle cascade; drop schema public cascade; create schema public");
  const reported = {
    status: 503,
    reason: "database_not_migrated",
    error: expect.stringMatching(/-- migrate/),
  };
  for (const path of ["/api/health/ready", "/api/emails"]) {
    const { status, body, headers } = await world.api("GET", path, { token });
    expect({ path, status, reason: body.reason, error: body.error }).toEqual({ path, ...reported });
    expect(headers["x-ratelimit-limit"]).toBe("60");
  }
  expect((await world.api("GET", "/api/health")).status).toBe(200);
});
