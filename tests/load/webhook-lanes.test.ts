import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { claimWebhooks, concurrencyStart } from "#server/delivery/webhooks/queue";
import { startWorker, type Worker } from "#server/delivery/worker";
import { newId } from "#server/platform/ids";
import { forEachTest } from "../support/fixtures";
import { createGate } from "../support/gate";
import { createWebhookWorld } from "../support/webhook-world";

const world = forEachTest(() => createWebhookWorld());
let worker: Worker | undefined;
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});

/** Inserts events into an endpoint's outbox, due now. */
const waiting = (webhookId: string, count: number) => world.deps.hot`
  insert into webhook_deliveries (id, team_id, webhook_id, type, payload)
  select uuid_v7(), team_id, id, 'email.delivered', '{"n":' || n || '}'
  from webhooks, generate_series(1, ${count}) as n where id = ${webhookId}`;
const statuses = async (webhookId: string): Promise<Record<string, number>> => {
  const rows = await world.deps.hot<{ status: string; n: number }[]>`
    select status, count(*)::int as n from webhook_deliveries where webhook_id = ${webhookId} group by status`;
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
};
const waitForSuccesses = (webhookId: string, count: number) =>
  expect.poll(() => statuses(webhookId), { timeout: 50_000 }).toEqual({ success: count });
const never = () => () => {};

test("a dead endpoint with a long queue delays neither other endpoints nor email", async () => {
  let open = 0;
  let openMax = 0;
  const silentServer = await world.sink(() => (response) => {
    openMax = Math.max(openMax, ++open);
    response.on("close", () => open--);
  });
  const healthyServer = await world.sink();
  const failing = await world.endpoint(silentServer, ["email.queued"]);
  const healthy = await world.endpoint(healthyServer, ["email.delivered"]);
  await waiting(failing.id, 2_000);
  await waiting(healthy.id, 300);
  worker = await startWorker(world.worker);
  await healthyServer.waitFor(300);
  await waitForSuccesses(healthy.id, 300);
  const sent = await Promise.all(Array.from({ length: 20 }, () => world.sendByApi()));
  await healthyServer.waitFor(320);
  for (const id of sent) expect((await world.ok("GET", `/api/emails/${id}`)).status).toBe("delivered");
  // The dead endpoint had only its few attempts at a time.
  expect(openMax).toBeLessThanOrEqual(concurrencyStart);
  expect((await statuses(failing.id)).pending).toBeGreaterThan(1_900);
  await silentServer.close();
});

test("an endpoint with a backlog of 2,000 events delays another endpoint's single event by a few attempts at most", async () => {
  const busy = await world.sink();
  const quiet = await world.sink();
  const first = await world.endpoint(busy, ["email.queued"]);
  const second = await world.endpoint(quiet, ["email.delivered"]);
  await waiting(first.id, 2_000);
  worker = await startWorker(world.worker);
  await busy.waitFor(500);
  await waiting(second.id, 1);
  const before = busy.received.length;
  await quiet.waitFor(1);
  expect(busy.received.length - before).toBeLessThan(200);
});

test("many dead endpoints do not block a healthy one", async () => {
  const silentServer = await world.sink(never);
  const healthyServer = await world.sink();
  for (let n = 0; n < 40; n++) {
    const { id } = await world.endpoint(`http://127.0.0.1:${silentServer.port}/${n}`, ["email.queued"]);
    await waiting(id, 50);
  }
  // As after the first hour: failing.
  await world.deps.hot`update webhooks set failing_since = now() - interval '1 hour', failures = 9`;
  const healthy = await world.endpoint(healthyServer, ["email.delivered"]);
  await waiting(healthy.id, 300);
  worker = await startWorker(world.worker);
  await waitForSuccesses(healthy.id, 300);
  // Each failing endpoint that was claimed had a single attempt.
  const perEndpoint = new Map<string, number>();
  for (const { path } of silentServer.received) perEndpoint.set(path, (perEndpoint.get(path) ?? 0) + 1);
  expect(Math.max(...perEndpoint.values())).toBe(1);
  expect(silentServer.received.length).toBeLessThanOrEqual(16);
  await silentServer.close();
});

test("a fast endpoint gets more concurrent attempts, up to a maximum", async () => {
  let concurrent = 0;
  let concurrentMax = 0;
  const sink = await world.sink(async () => {
    concurrentMax = Math.max(concurrentMax, ++concurrent);
    await wait(20);
    concurrent--;
    return 200;
  });
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  await waiting(id, 400);
  worker = await startWorker(world.worker);
  await waitForSuccesses(id, 400);
  expect(concurrentMax).toBeGreaterThan(concurrencyStart);
  expect(concurrentMax).toBeLessThanOrEqual(32);
});

test("several workers send no event twice", async () => {
  const sink = await world.sink();
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  await waiting(id, 500);
  const workers = await Promise.all([1, 2, 3].map(() => startWorker(world.worker)));
  await waitForSuccesses(id, 500);
  for (const each of workers) await each.stop();
  expect(sink.received).toHaveLength(500);
  expect(new Set(sink.received.map(({ headers }) => headers["svix-id"])).size).toBe(500);
});

describe("a worker that dies", () => {
  const claimAll = () => claimWebhooks(world.deps.hot, newId(), { healthy: 50, failing: 50 }, new Map());

  test("leaves its events to the next worker, with the same id and the attempt counted", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await waiting(id, 3);
    const claims = await claimAll();
    expect(claims).toHaveLength(3);
    await world.round();
    expect(sink.received).toEqual([]);
    await world.elapse("61 seconds");
    await world.round();
    expect(sink.received.map(({ headers }) => String(headers["svix-id"])).sort()).toEqual(
      claims.map((claim) => claim.id).sort(),
    );
    expect((await world.eventsOf(id)).map(({ attempts }) => attempts)).toEqual([2, 2, 2]);
  });

  test("and resumes late changes nothing that the next worker recorded", async () => {
    const answer = createGate();
    const sink = await world.sink(async (_, nth) => {
      if (nth > 1) return 200;
      await answer.passed;
      return 500;
    });
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await waiting(id, 1);
    const late = tick(world.worker, { budgetMs: 25_000 });
    await sink.waitFor(1);
    await world.elapse("61 seconds");
    await world.round();
    expect(await statuses(id)).toEqual({ success: 1 });
    answer.open();
    await late;
    const [event] = await world.eventsOf(id);
    expect(event).toMatchObject({ status: "success" });
    expect(event?.attempts_made.map((attempt) => attempt.http_status_code)).toEqual([200]);
  });

  test("repeatedly on one event stops at the attempt limit", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await waiting(id, 1);
    await world.deps.hot`
      update webhook_deliveries set status = 'attempting', attempts = 8, lease_token = ${newId()},
        leased_until = now() - interval '1 second'`;
    await world.round();
    expect(await statuses(id)).toEqual({ failed: 1 });
    expect(sink.received).toEqual([]);
  });
});

test("a worker that stops gracefully finishes its attempts and releases none of them", async () => {
  const sink = await world.sink(async () => {
    await wait(300);
    return 200;
  });
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  await waiting(id, concurrencyStart);
  worker = await startWorker(world.worker);
  await sink.waitFor(1);
  await worker.stop();
  worker = undefined;
  const after = await statuses(id);
  expect(after.attempting).toBeUndefined();
  expect(after.success).toBe(sink.received.length);
});

test("a round with a time limit releases the attempt that does not finish in time", async () => {
  const sink = await world.sink(never);
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  await waiting(id, 1);
  await tick(world.worker, { budgetMs: 1_500 });
  expect(await statuses(id)).toEqual({ pending: 1 });
  expect(sink.received).toHaveLength(1);
});
