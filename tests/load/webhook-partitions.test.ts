import { beforeEach, describe, expect, test } from "vitest";
import { firstIdAt, listPartitions, mergePartitions, splitPartition, timeOfId } from "#db/partitions";
import { maintainPartitions, WEBHOOK_TABLES } from "#server/delivery/housekeeping/partitions";
import { runWebhookRound } from "#server/delivery/webhooks/round";
import { sweepWebhooks } from "#server/delivery/webhooks/sweep";
import { forEachTest } from "../support/fixtures";
import { createWebhookWorld } from "../support/webhook-world";

const world = forEachTest(() => createWebhookWorld());
beforeEach(async () => {
  // The tests create the ranges themselves.
  for (const of of WEBHOOK_TABLES)
    for (;;) {
      const [first, second] = await listPartitions(world.hot, of.table);
      if (!first || !second) break;
      expect(await mergePartitions(world.hot, of, [first, second])).toBe(true);
    }
});

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
  const count = 600;
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
  for (let n = 1; (sink.received.length < count || changes <= 3) && faults.length === 0; n++) {
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
  expect(new Set(sink.received.map(({ headers }) => headers["webhook-id"])).size).toBe(count);
  expect(sink.received).toHaveLength(count);
  const rows = await world.hot`
    select d.status, d.attempts, count(*)::int as events, sum((select count(*) from webhook_attempts a
      where a.team_id = d.team_id and a.delivery_id = d.id))::int as attempts_made
    from webhook_deliveries d group by 1, 2`;
  expect(rows).toEqual([{ status: "success", attempts: 1, events: count, attempts_made: count }]);
});

describe("expired events", () => {
  const run = async () => {
    await sweepWebhooks(world.worker);
    await maintain();
  };
  /** The size of what ends in the past, for events and for attempts. Deleted rows alone do not reduce it. */
  const readPastBytes = () =>
    Promise.all(
      WEBHOOK_TABLES.map(async ({ table }) =>
        (await listPartitions(world.hot, table))
          .filter(({ to }) => to !== null && timeOfId(to) < Date.now())
          .reduce((sum, { bytes }) => sum + bytes, 0),
      ),
    );

  test("are deleted with their attempts, and their partition returns its space; later ones remain", async () => {
    const sink = await world.sink((_, nth) => (nth === 1 ? 500 : 200));
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    const [failed, succeeded, recent] = [await sendEvent(id), await sendEvent(id), await sendEvent(id)];
    await world.hot`update webhook_deliveries set status = 'failed' where id = ${failed}`;
    for (const one of [failed, succeeded]) await age(one, 45);
    const kept = await age(recent, 29);
    await splitAt(31);
    expect(Math.min(...(await readPastBytes()))).toBeGreaterThan(0);
    await run();
    expect(await readPastBytes()).toEqual([0, 0]);
    expect(await world.eventsOf(id)).toMatchObject([
      { id: kept, attempts_made: [{ http_status_code: 200 }] },
    ]);
    expect(await world.rowCounts()).toMatchObject({ webhook_deliveries: 1, webhook_attempts: 1 });
  });

  test("are deleted while another one of their partition is pending or in progress, which is kept and sent", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    const [first, ...others] = [await sendEvent(id), await sendEvent(id), await sendEvent(id)];
    const old = await age(first, 40);
    await splitAt(31);
    for (const [n, status] of ["pending", "attempting"].entries()) {
      const expired = await age(others[n] ?? "", 45);
      await world.hot`update webhook_deliveries set status = ${status} where id = ${old}`;
      await run();
      expect(await world.eventsOf(id)).toMatchObject([
        { id: old, status, attempts_made: [{}] },
        ...others.slice(n + 1).map((other) => ({ id: other })),
      ]);
      expect(Math.min(...(await readPastBytes()))).toBeGreaterThan(0);
      expect(await world.hot`select from webhook_attempts where delivery_id = ${expired}`).toHaveLength(0);
    }
    await world.hot`update webhook_deliveries set status = 'pending', due_at = now() where id = ${old}`;
    const calls = sink.received.length;
    await runWebhookRound(world.worker, { leftMs: () => 20_000, mayHaveMore: () => false });
    expect(sink.received.slice(calls).map(({ headers }) => headers["webhook-id"])).toEqual([old]);
    await run();
    expect(await world.eventsOf(id)).toEqual([]);
    expect(await readPastBytes()).toEqual([0, 0]);
  });

  test("that are replayed at the same moment are either sent again or gone", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    for (let round = 0; round < 3; round++) {
      const old = await age(await sendEvent(id), 45);
      const [, replay] = await Promise.all([
        run(),
        world.api("POST", `/api/webhooks/${id}/events/${old}/replay`, { token: world.token }),
      ]);
      expect([200, 404]).toContain(replay.status);
      const left = await world.eventsOf(id);
      if (replay.status === 200)
        expect(left).toMatchObject([{ id: old, status: "pending", attempts_made: [{}] }]);
      else expect(left).toEqual([]);
      await world.hot`update webhook_deliveries set status = 'success'`;
      await run();
      expect(await world.rowCounts()).toMatchObject({ webhook_deliveries: 0, webhook_attempts: 0 });
    }
  });
});
