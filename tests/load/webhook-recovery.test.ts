import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { startWorker, type Worker } from "#server/delivery/worker";
import { forEachTest } from "../support/fixtures";
import { createWebhookWorld } from "../support/webhook-world";

const world = forEachTest(() => createWebhookWorld());
let workers: Worker[] = [];
afterEach(async () => {
  for (const worker of workers) await worker.stop();
  workers = [];
});

/**
 * Inserts events into an endpoint's outbox. With attempts, the next one is due in an hour, and the endpoint
 * has failed so far.
 */
const insertEvents = async (webhookId: string, count: number, attempts = 0) => {
  await world.deps.hot`
    insert into webhook_deliveries (id, team_id, webhook_id, type, payload, attempts, due_at)
    select uuid_v7(), team_id, id, 'email.delivered', '{"n":' || n || '}', ${attempts}::int,
      now() + case when ${attempts}::int = 0 then '0' else interval '1 hour' end
    from webhooks, generate_series(1, ${count}) as n where id = ${webhookId}`;
  if (attempts > 0)
    await world.deps.hot`
      update webhooks set failing_since = now() - interval '1 hour', failures = 9 where id = ${webhookId}`;
};
const statuses = async (webhookId: string): Promise<Record<string, number>> => {
  const rows = await world.deps.hot<{ status: string; n: number }[]>`
    select status, count(*)::int as n from webhook_deliveries where webhook_id = ${webhookId} group by status`;
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
};

describe("the first success of a failing endpoint", () => {
  test("makes all its pending events due: two workers send each once, within the endpoint's concurrency limit", async () => {
    let concurrent = 0;
    const concurrentAt: number[] = [];
    const sink = await world.sink(async () => {
      concurrentAt.push(++concurrent);
      await wait(5);
      concurrent--;
      return 200;
    });
    const stillFailing = await world.sink(() => 500);
    const recovering = await world.endpoint(sink, ["email.delivered"]);
    const other = await world.endpoint(stillFailing, ["email.queued"]);
    await insertEvents(recovering.id, 2_500, 4);
    await insertEvents(other.id, 5, 4);
    workers = await Promise.all([1, 2].map(() => startWorker(world.worker)));
    await insertEvents(recovering.id, 1);
    await expect.poll(() => statuses(recovering.id), { timeout: 50_000 }).toEqual({ success: 2_501 });
    expect(sink.received).toHaveLength(2_501);
    expect(new Set(sink.received.map(({ headers }) => headers["webhook-id"])).size).toBe(2_501);
    // One attempt at a time until the endpoint has recovered. After that each worker raises the limit to 32,
    // and two claims at the same moment do not count each other's attempts.
    expect(concurrentAt[0]).toBe(1);
    expect(Math.max(...concurrentAt)).toBeLessThanOrEqual(2 * 32);
    // The attempts before the recovery still count.
    const rows = await world.deps.hot<{ attempts: number }[]>`
      select distinct attempts from webhook_deliveries where webhook_id = ${recovering.id} order by 1`;
    expect(rows.map(({ attempts }) => attempts)).toEqual([1, 5]);
    // Another endpoint that fails waits for its own times.
    expect(await statuses(other.id)).toEqual({ pending: 5 });
    expect(stillFailing.received).toEqual([]);
  });

  test("does not change the pending events of an endpoint that was paused meanwhile", async () => {
    const sink = await world.sink(async () => {
      await world.ok("PATCH", `/api/webhooks/${id}`, { status: "disabled" });
      return 200;
    });
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await insertEvents(id, 3, 4);
    await insertEvents(id, 1);
    await world.round();
    expect(sink.received).toHaveLength(1);
    const rows = await world.deps.hot`
      select from webhook_deliveries where webhook_id = ${id} and status <> 'success' and due_at > now()`;
    expect(rows).toHaveLength(3);
  });

  test("ends only waits that are short beside the time of the failures", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await insertEvents(id, 2, 2);
    await insertEvents(id, 3, 6);
    await world.deps.hot`update webhooks set failing_since = now() - interval '6 minutes'`;
    await insertEvents(id, 1);
    await world.round();
    await world.round();
    expect(await statuses(id)).toEqual({ success: 3, pending: 3 });
  });

  test("of an endpoint that was healthy changes no due time", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await insertEvents(id, 3, 4);
    await world.deps.hot`update webhooks set failing_since = null, failures = 0`;
    await insertEvents(id, 1);
    await world.round();
    expect(await statuses(id)).toEqual({ success: 1, pending: 3 });
  });
});

test("an event that the endpoint always rejects keeps its long waits while other events succeed", async () => {
  const sink = await world.sink(({ body }) => (body.includes("rejected@") ? 500 : 200));
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  await world.sendByApi({ to: "delivered+rejected@backstamp.test" });
  await world.sendDue();
  // As after more attempts: the first wait of five seconds can end during the test.
  await world.deps
    .hot`update webhook_deliveries set due_at = now() + interval '1 hour' where status = 'pending'`;
  for (let n = 0; n < 6; n++) {
    await world.sendByApi();
    await world.sendDue();
    await world.sendDue();
  }
  const [rejected, ...others] = await world.eventsOf(id);
  expect(others.map(({ status }) => status)).toEqual(Array(6).fill("success"));
  // Nor is a run of failures of some seconds an outage.
  expect(rejected).toMatchObject({ status: "pending", attempts: 1 });
});
