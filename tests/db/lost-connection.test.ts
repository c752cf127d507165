import { setImmediate as turn } from "node:timers/promises";
import { sql } from "drizzle-orm";
import type { TransactionSql } from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { isDatabaseAway } from "#db/faults";
import { claimDeliveries } from "#db/queue";
import { recordResults } from "#db/results";
import { newId } from "#server/ids";
import { startTap, type Tap } from "../support/database-tap";
import { type House, openHouse } from "../support/house";

const eventually = { timeout: 20_000, interval: 20 };

let house: House;
let tap: Tap;
let database: Database;
beforeAll(async () => {
  house = await openHouse();
  const url = new URL(house.url);
  tap = await startTap({ host: url.hostname, port: Number(url.port) });
  url.port = String(tap.port);
  database = openDatabase(url.href, { connectionsMax: 4 });
});
afterAll(async () => {
  await database.close();
  await tap.close();
  await house.close();
});

const resultOf = ({ id, leaseToken }: { id: string; leaseToken: string }) => ({
  id,
  leaseToken,
  status: "sent" as const,
  retryAfterMs: null,
  waitRule: null,
  code: 250,
  enhanced: null,
  text: null,
  host: null,
  reason: "",
  events: [{ id: newId(), type: "email.sent" as const, data: {} }],
});

/** Resolves to what the work failed with; the process has to outlive it by some turns of its loop. */
async function faultOf(work: Promise<unknown>): Promise<unknown> {
  const fault = await work.then(
    () => null,
    (error: unknown) => error,
  );
  for (let n = 0; n < 20; n++) await turn();
  return fault;
}

test.each([
  { how: "end", when: "before" },
  { how: "end", when: "after" },
  { how: "reset", when: "before" },
  { how: "reset", when: "after" },
] as const)(
  "a transaction whose connection breaks ($how) $when its statement is begun fails, and takes nothing along",
  async ({ how, when }) => {
    const work = database.db.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      if (when === "before") tap.cut(how);
      else setTimeout(() => tap.cut(how), 50);
      await tx.execute(sql`select pg_sleep(5)`);
    });
    expect(isDatabaseAway(await faultOf(work))).toBe(true);
    await vi.waitFor(
      async () => expect(await database.db.execute(sql`select 1 as one`)).toMatchObject([{ one: 1 }]),
      eventually,
    );
  },
);

test.each(["end", "reset"] as const)(
  "results whose connection breaks (%s) while they are written are not taken for written, and can be written again",
  async (how) => {
    await house.send({ to: [`ann+${how}@example.net`, `ben+${how}@example.net`] });
    const claims = await claimDeliveries(house.hot, { limit: 2, leaseToken: newId() });
    const held = tap.holdAt("up", "email.sent");
    const work = recordResults(database.hot, claims.map(resultOf));
    await held;
    tap.cut(how);
    expect(isDatabaseAway(await faultOf(work))).toBe(true);
    await vi.waitFor(async () => {
      const written = await recordResults(database.hot, claims.map(resultOf));
      expect(written.size).toBe(2);
    }, eventually);
  },
);

test.each(["end", "reset"] as const)(
  "a statement asked for while its connection breaks (%s) is answered by its own rows or by the loss, never by nothing",
  { timeout: 60_000 },
  async (how) => {
    const answers: unknown[] = [];
    for (let round = 0; round < 40; round++) {
      await vi.waitFor(() => database.hot`select ${round}::int as n`, eventually);
      tap.cut(how);
      const asked: Promise<unknown>[] = [];
      const answerOf = (work: Promise<unknown>, n: number) =>
        work.then(
          (rows) => (rows as { n: number }[])[0]?.n === n || rows,
          (error) => isDatabaseAway(error) || error,
        );
      // One in each of the next turns of the loop: in some of them the loss is heard of and not yet dealt with.
      for (let n = 0; n < 15; n++) {
        await turn();
        const work =
          n % 3 === 0
            ? database.db.transaction(async (tx) => {
                await tx.execute(sql`select 1`);
                return tx.execute(sql`select ${n}::int as n`);
              })
            : Promise.resolve(database.hot`select ${n}::int as n`);
        asked.push(answerOf(work, n));
      }
      answers.push(...(await Promise.all(asked)));
    }
    expect(answers.filter((answer) => answer !== true)).toEqual([]);
  },
);

test("what a transaction still asks for after the loss of its connection is refused, and runs in nobody else's", async () => {
  const heard: unknown[] = [];
  let paused = 0;
  let goOn = () => {};
  const resumed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const lost = (begin: typeof database.hot.begin, ask: (tx: TransactionSql) => Promise<unknown>) =>
    begin(async (tx) => {
      await tx`select 1`;
      paused++;
      await resumed;
      await ask(tx).then(
        () => heard.push("answered"),
        (error) => heard.push(error),
      );
    });
  const works = [
    faultOf(lost(database.hot.begin, (tx) => tx`select pg_backend_pid()`)),
    faultOf(lost(database.hot.begin, (tx) => tx.unsafe("select pg_backend_pid()"))),
  ];
  await vi.waitFor(() => expect(paused).toBe(2), eventually);
  tap.cut("reset");
  for (const fault of await Promise.all(works)) expect(isDatabaseAway(fault)).toBe(true);
  // Both connections serve others by now.
  await vi.waitFor(() => Promise.all([1, 2, 3].map(() => database.hot`select pg_sleep(0.05)`)), eventually);
  goOn();
  await vi.waitFor(() => expect(heard).toHaveLength(2), eventually);
  expect(heard.map(isDatabaseAway)).toEqual([true, true]);
});

test("connections that break again and again under load leave the pool as it was", {
  timeout: 120_000,
}, async () => {
  const faults: unknown[] = [];
  let isOver = false;
  // Some ask in the same turn in which they hear, some a turn later: connections die between the two.
  const load = async (index: number) => {
    for (let n = 0; !isOver; n++) {
      for (let turns = index % 3; turns > 0; turns--) await turn();
      const work =
        (n + index) % 4 === 0
          ? database.db.transaction(async (tx) => {
              await tx.execute(sql`select 1`);
              await tx.execute(sql`select 2`);
            })
          : Promise.resolve(database.hot`select ${n}::int as n`);
      const fault = await faultOf(work);
      if (fault !== null) faults.push(fault);
    }
  };
  const loads = Array.from({ length: 6 }, (_, index) => load(index));
  for (let n = 0; n < 150; n++) {
    await new Promise((resolve) => setTimeout(resolve, 20 + (n % 17)));
    tap.cut(n % 3 === 0 ? "end" : "reset");
  }
  isOver = true;
  await Promise.all(loads);
  expect(faults.filter((fault) => !isDatabaseAway(fault))).toEqual([]);
  // A connection that waits for ever to be greeted is given up as timed out.
  expect(faults).not.toContainEqual(expect.objectContaining({ code: "CONNECT_TIMEOUT" }));
  const together = Array.from(
    { length: 12 },
    () => database.hot`select pg_backend_pid() as pid, pg_sleep(0.2)`,
  );
  expect(new Set((await Promise.all(together)).map(([row]) => row?.pid)).size).toBe(database.hot.options.max);
});
