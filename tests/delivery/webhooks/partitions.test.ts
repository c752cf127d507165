import { afterEach, beforeEach, expect, test } from "vitest";
import { firstIdAt, listPartitions, mergePartitions, splitPartition, timeOfId } from "#db/partitions";
import { maintainPartitions, WEBHOOK_TABLES } from "#server/delivery/housekeeping/partitions";
import { runWebhookRound } from "#server/delivery/webhooks/round";
import { createWebhookWorld, type WebhookWorld } from "../../support/webhook-world";

let world: WebhookWorld;
beforeEach(async () => {
  world = await createWebhookWorld();
  // The tests create the ranges themselves.
  for (const of of WEBHOOK_TABLES)
    for (;;) {
      const [first, second] = await listPartitions(world.hot, of.table);
      if (!first || !second) break;
      expect(await mergePartitions(world.hot, of, [first, second])).toBe(true);
    }
});
afterEach(() => world.close());

const dayMs = 86_400_000;
const daysAgo = (days: number) => firstIdAt(Math.floor(Date.now() / dayMs - days) * dayMs);
const maintain = () => maintainPartitions(world.worker, () => true);
const rangesOf = async (table: string) =>
  (await listPartitions(world.hot, table)).map(({ from, to }) => [from, to]);

async function splitAt(days: number): Promise<void> {
  for (const of of WEBHOOK_TABLES) expect(await splitPartition(world.hot, of, daysAgo(days))).toBeNull();
}

/** Sends an email, whose event an endpoint receives. Returns the id of the event delivery. */
async function sendEvent(webhookId: string): Promise<string> {
  await world.sendByApi();
  await world.round();
  return (await world.eventsOf(webhookId)).at(-1)?.id ?? "";
}

/** Makes an event delivery and its attempts older. Ids start with their creation time. */
async function age(id: string, days: number): Promise<string> {
  const old = daysAgo(days).slice(0, 14) + id.slice(14);
  await world.hot`update webhook_deliveries set id = ${old} where id = ${id}`;
  await world.hot`update webhook_attempts set delivery_id = ${old} where delivery_id = ${id}`;
  return old;
}

test("ranges of 15 days are made ahead, the same for events and attempts, and nothing more is to do afterwards", async () => {
  await maintain();
  const ranges = await rangesOf("webhook_deliveries");
  expect(await rangesOf("webhook_attempts")).toEqual(ranges);
  expect(ranges[0]?.[0]).toBeNull();
  expect(ranges.at(-1)?.[1]).toBeNull();
  for (const [index, [from]] of ranges.entries()) if (index > 0) expect(from).toBe(ranges[index - 1]?.[1]);
  const starts = ranges.slice(1).map(([from]) => timeOfId(from ?? ""));
  expect(starts.at(-1)).toBeGreaterThan(Date.now() + 15 * dayMs);
  for (const [index, start] of starts.entries())
    if (index > 0) expect(start - (starts[index - 1] ?? 0)).toBe(15 * dayMs);
  // Each claim reads all of them.
  expect(ranges.length).toBeLessThanOrEqual(4);
  await maintain();
  expect(await rangesOf("webhook_deliveries")).toEqual(ranges);
});

test("deleting an endpoint deletes its events and attempts in all partitions, and none of another endpoint", async () => {
  await splitAt(10);
  const sink = await world.sink();
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  const other = await world.endpoint(sink, ["email.delivered"]);
  for (const days of [20, 0]) {
    await sendEvent(id);
    for (const endpoint of [id, other.id]) await age((await world.eventsOf(endpoint)).at(-1)?.id ?? "", days);
  }
  const before = await world.rowCounts();
  expect(before).toMatchObject({ webhook_deliveries: 4, webhook_attempts: 4 });
  await world.ok("DELETE", `/api/webhooks/${id}`);
  expect(await world.rowCounts()).toMatchObject({ webhook_deliveries: 2, webhook_attempts: 2 });
  const left = await world.eventsOf(other.id);
  expect(left.map(({ attempts_made }) => attempts_made.length)).toEqual([1, 1]);
});

test("no event is lost or sent twice while partitions are divided and merged", async () => {
  const sink = await world.sink();
  const { id } = await world.endpoint(sink, ["email.delivered"]);
  const count = 1_500;
  await world.hot`
    insert into webhook_deliveries (id, team_id, webhook_id, type, payload)
    select uuid_v7(), ${world.ctx.teamId}, ${id}, 'email.delivered', '{}' from generate_series(1, ${count})`;
  let isDone = false;
  const faults: unknown[] = [];
  const work = async () => {
    while (!isDone)
      await runWebhookRound(world.worker, { leftMs: () => 20_000, mayHaveMore: () => false }).catch(
        (error) => {
          faults.push(error);
        },
      );
  };
  const workers = [work(), work()];
  let changes = 0;
  for (let n = 1; sink.received.length < count && faults.length === 0; n++) {
    for (const of of WEBHOOK_TABLES) {
      // The partition of the events ends earlier each time. The empty ones after it become one again.
      if ((await splitPartition(world.hot, of, daysAgo(-20 + (n % 10)))) === null) changes++;
      const [, second, third] = await listPartitions(world.hot, of.table);
      if (second && third && (await mergePartitions(world.hot, of, [second, third]))) changes++;
    }
  }
  isDone = true;
  await Promise.all(workers);
  expect(faults).toEqual([]);
  expect(changes).toBeGreaterThan(3);
  expect(new Set(sink.received.map(({ headers }) => headers["webhook-id"])).size).toBe(count);
  expect(sink.received).toHaveLength(count);
  const rows = await world.hot`
    select d.status, d.attempts, count(*)::int as events, sum((select count(*) from webhook_attempts a
      where a.team_id = d.team_id and a.delivery_id = d.id))::int as attempts_made
    from webhook_deliveries d group by 1, 2`;
  expect(rows).toEqual([{ status: "success", attempts: 1, events: count, attempts_made: count }]);
});
