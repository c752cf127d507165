import { expect, test, vi } from "vitest";
import type { HotSql } from "#db/client";
import { newId } from "#server/platform/ids";
import { getInstallationFigures } from "#server/services/overview/installation-figures";
import { createTeam } from "#server/services/teams";
import { createDatabaseMetrics } from "#server/startup/telemetry/database-metrics";
import { queueMany } from "../support/database/queue-many";
import { countQueueReads } from "../support/database/queue-reads";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());

test("the figures of a queue are read from indexes, without its rows", async () => {
  const { hot, deps } = world;
  const teams = [world.ctx.teamId, (await createTeam(deps, { name: "Second" })).id];
  for (const teamId of teams)
    for (const priority of ["high", "low"] as const)
      await queueMany(hot, { teamId, domain: "example.org", count: 5_000, priority });
  await queueMany(hot, { teamId: world.ctx.teamId, domain: "example.org", count: 300, dueIn: "1 day" });
  await queueMany(hot, { teamId: world.ctx.teamId, domain: "example.org", count: 20, dueIn: "-2 hours" });
  await hot`update deliveries set due_at = 'infinity', wait_rule = 'no_transport'
    where id in (select id from deliveries where due_at > now() limit 40)`;
  await hot`update queue set stage = 'claimed', lease_token = ${newId()}, due_at = now() - interval '1 second'
    where id in (select id from deliveries where priority = 2 limit 3)`;
  await hot.unsafe("vacuum analyze deliveries, queue");
  const { scans, fetched, result } = await countQueueReads(hot, (tx) => {
    // The transaction of the count, instead of one of its own.
    const begin = (task: (inside: HotSql) => Promise<unknown>) => task(tx);
    return getInstallationFigures({ hot: Object.assign(tx, { begin }) as unknown as HotSql });
  });
  const [email] = result.queues;
  expect(email).toMatchObject({
    queue: "email",
    counts: { due: 20_017, later: 260, no_transport: 40, paused: 0, sending: 3 },
    lapsed: 3,
  });
  expect(email?.oldestDueSeconds).toBeGreaterThan(7_000);
  expect(scans).toBe(0);
  // Index-only scans fetch no row of a vacuumed table. The few rows that are claimed or parked are fetched.
  expect(fetched).toBeLessThan(500);
});

test("due deliveries of a paused team count as paused, and raise no age", async () => {
  const { hot, deps, ctx } = world;
  const other = await world.otherTeam();
  await queueMany(hot, { teamId: ctx.teamId, domain: "example.org", count: 5, dueIn: "-2 hours" });
  await queueMany(hot, { teamId: other.id, domain: "example.org", count: 3 });
  await hot`insert into queue_pauses (id, team_id, reason, actor) values (${newId()}, ${ctx.teamId}, 'Test', 'operator')`;
  const read = async () => (await getInstallationFigures(deps)).queues[0];
  expect(await read()).toMatchObject({ counts: { due: 3, paused: 5 } });
  expect((await read())?.oldestDueSeconds).toBeLessThan(3_600);
  await hot`update queue_pauses set team_id = null`;
  expect(await read()).toMatchObject({ counts: { due: 0, paused: 8 }, oldestDueSeconds: 0 });
});

test("only events of healthy endpoints are late", async () => {
  const { hot, deps, ctx } = world;
  const { token } = await world.key();
  for (const health of ["healthy", "failing", "disabled"]) {
    const hook = { endpoint: `http://127.0.0.1:9/${health}`, events: ["email.sent"] };
    const { body } = await world.api("POST", "/api/webhooks", { token, body: hook });
    await hot`
      insert into webhook_deliveries (id, team_id, webhook_id, type, due_at)
      select uuid_v7(), ${ctx.teamId}, ${String(body.id)}, 'email.sent',
        now() - case when ${health} = 'healthy' then interval '1 minute' else interval '1 day' end
      from generate_series(1, 4)`;
    if (health === "failing")
      await hot`update webhooks set failing_since = now() where id = ${String(body.id)}`;
    if (health === "disabled")
      await hot`update webhooks set status = 'disabled' where id = ${String(body.id)}`;
  }
  const webhook = (await getInstallationFigures(deps)).queues[1];
  expect(webhook).toMatchObject({ queue: "webhook", counts: { due: 4, later: 0, failing: 4, disabled: 4 } });
  expect(webhook?.oldestDueSeconds).toBeGreaterThan(59);
  expect(webhook?.oldestDueSeconds).toBeLessThan(3_600);
});

test("any number of scrapes cause one reading at a time, and a failed one is reported as such", async () => {
  let readings = 0;
  let finish: (fail: boolean) => void = () => {};
  const faults: unknown[] = [];
  const render = createDatabaseMetrics(
    () => {
      readings += 1;
      return new Promise((resolve, reject) => {
        finish = (fail) => (fail ? reject(new Error("away")) : resolve(getInstallationFigures(world.deps)));
      });
    },
    (error) => faults.push(error),
  );
  const scrapes = Array.from({ length: 200 }, () => render());
  expect(readings).toBe(1);
  finish(true);
  for (const text of await Promise.all(scrapes)) expect(text).toContain("backstamp_database_up 0");
  expect(await render()).not.toContain("backstamp_queue_depth");
  expect({ readings, faults: faults.length }).toEqual({ readings: 1, faults: 1 });
});

test("a reading that waits for a lock ends on the server too", async () => {
  const { hot, deps } = world;
  const waiting = async () =>
    (
      await hot`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%with recursive paused%'
      and datname = current_database()`
    ).length;
  await hot.begin(async (tx) => {
    await tx`lock table deliveries in access exclusive mode`;
    await expect(getInstallationFigures(deps)).rejects.toThrow();
    await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 2_000 });
  });
});
