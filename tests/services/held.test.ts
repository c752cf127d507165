import { expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { rescheduleEmail } from "#server/services/emails/change/change";
import { pauseQueue, resumeQueue } from "#server/services/pauses/pause";
import { releaseResumed } from "#server/services/pauses/release";
import { getHeldAfterRestore, type HeldChoice, settleHeld } from "#server/services/restores/held";
import { queueMany } from "../support/database/queue-many";
import { countQueueReads } from "../support/database/queue-reads";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

/** The deliveries that one call reads. */
const readMax = 2_000;
const ALL: HeldChoice = { to: "release", acceptedAfter: null, acceptedBefore: null, scheduledAfter: null };

const world = forEachTest(() => createWorld());

/** Held deliveries, one with another priority, and one that waits for a relay. */
async function hold(count: number): Promise<void> {
  const from = { teamId: world.id, domain: "example.org" };
  await queueMany(world.hot, { ...from, count });
  await queueMany(world.hot, { ...from, count: 1, priority: "high", to: "high.example" });
  await world.hot`update deliveries set wait_rule = 'restored', due_at = 'infinity'`;
  await queueMany(world.hot, { ...from, count: 1, to: "parked.example" });
  await world.hot`
    update deliveries set wait_rule = 'no_transport', due_at = 'infinity' where domain = 'parked.example'`;
  await world.hot.unsafe("vacuum analyze");
}

async function settleAll(choice: HeldChoice) {
  const parts: number[] = [];
  for (let after: string | null = null; ; ) {
    const { settled, next }: Awaited<ReturnType<typeof settleHeld>> = await settleHeld(
      world.ctx,
      choice,
      after,
    );
    parts.push(settled);
    after = next;
    if (after === null) return parts;
  }
}
const countHeld = async () =>
  (await world.hot`select from deliveries where wait_rule = 'restored' and due_at = 'infinity'`).length;

test("a decision about few of many held deliveries reads a limited number per call", async () => {
  const many = 2 * readMax;
  await hold(many);
  const later = new Date(Date.now() + 3_600_000);
  const chosen = ["r1@many.example", `r${many}@many.example`];
  await world.hot`
    update emails set scheduled_at = ${new Date(later.getTime() + 60_000)} where "to"->>0 = any(${chosen})`;
  const choice = { ...ALL, scheduledAfter: later };
  const { result, scans, fetched } = await countQueueReads(world.hot, (tx) => {
    const begin = (task: (inside: typeof tx) => Promise<unknown>) => task(tx);
    return settleHeld({ ...world.ctx, hot: Object.assign(tx, { begin }) as never }, choice, null);
  });
  expect(result).toEqual({ settled: 1, next: expect.any(String) });
  expect(scans).toBe(0);
  expect(fetched).toBeLessThan(readMax + 100);
  expect((await settleAll(choice)).filter((settled) => settled > 0)).toEqual([1]);
  const released = await world.hot`select address from deliveries where wait_rule is null order by address`;
  expect(released.map(({ address }) => address)).toEqual(chosen);
});

test("all held deliveries are released in parts, those of every priority, and what waits for a relay is not", async () => {
  const many = readMax + 10;
  await hold(many);
  expect(await settleAll(ALL)).toEqual([readMax, many + 1 - readMax]);
  const entries = await world.hot`select detail from audit_log where action = 'email.released'`;
  expect(entries.map(({ detail }) => detail.recipients)).toEqual([many + 1]);
  expect(await countHeld()).toBe(0);
  expect(await world.hot`select wait_rule from deliveries where due_at = 'infinity'`).toEqual([
    { wait_rule: "no_transport" },
  ]);
  const invalid = settleHeld(world.ctx, ALL, Buffer.from(`{"priority":9}`).toString("base64url"));
  await expect(invalid).rejects.toMatchObject({ code: "invalid" });
});

test("neither a resumed domain nor another time releases what is held", async () => {
  await world.send();
  const { id } = await world.send({ scheduledAt: "in 2 hours" });
  await world.hot`update deliveries set wait_rule = 'restored', due_at = 'infinity'`;
  const scope = { teamId: world.id, domain: "example.org" };
  await pauseQueue(world.ctx, { ...scope, reason: "A test" });
  await resumeQueue(world.ctx, scope);
  await releaseResumed(world.hot);
  await rescheduleEmail(world.ctx, id, "in 3 hours");
  expect(await countHeld()).toBe(2);
});

test("the overview reads no delivery of a database that was never restored, and a limited number of another one", async () => {
  const many = 500;
  await hold(many);
  const read = () =>
    countQueueReads(world.hot, (tx) => getHeldAfterRestore({ ...world.ctx, hot: tx, db: world.deps.db }));
  expect(await read()).toEqual({ result: null, scans: 0, fetched: 0 });
  await queueMany(world.hot, { teamId: world.id, domain: "example.org", count: many, to: "queued.example" });
  await world.hot`
    insert into restores (id, taken_at, release, held) values (${newId()}, now(), '0.2.0', ${many + 1})`;
  await world.hot.unsafe("vacuum analyze");
  const { result, scans, fetched } = await read();
  expect(result?.held).toMatchObject({ deliveries: many + 1 });
  expect(result?.held.oldestAt.getTime()).toBeLessThanOrEqual(result?.held.newestAt.getTime() ?? 0);
  expect(scans).toBe(0);
  // Those that are held and the one without a relay. The index contains the queued ones, too.
  expect(fetched).toBeLessThan(many + 100);
});
