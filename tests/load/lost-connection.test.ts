import { setImmediate as turn } from "node:timers/promises";
import { sql } from "drizzle-orm";
import type { TransactionSql } from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { isDatabaseUnreachable } from "#db/faults";
import { startTap } from "../support/database/database-tap";
import { forAllTests } from "../support/fixtures";
import { createGate } from "../support/gate";
import { createWorld } from "../support/world";

const eventually = { timeout: 20_000, interval: 20 };

const world = forAllTests(() => createWorld());
const tap = forAllTests(() => {
  const { hostname, port } = new URL(world.databaseUrl);
  return startTap({ host: hostname, port: Number(port) });
});
let database: Database;
/** Settings as behind a transaction pooler. */
let pooled: Database;
beforeAll(async () => {
  const url = new URL(world.databaseUrl);
  url.port = String(tap.port);
  database = openDatabase(url.href, { connectionsMax: 4 });
  pooled = openDatabase(url.href, { connectionsMax: 4, pooled: true });
});
afterAll(async () => {
  await Promise.all([database.close(), pooled.close()]);
});

/**
 * Resolves to the error of the work, after some turns of the event loop in which an unhandled error would end
 * the process.
 */
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
  "a transaction whose connection breaks ($how) $when a statement starts fails, and the process and the pool continue",
  async ({ how, when }) => {
    const work = database.db.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      if (when === "before") tap.cut(how);
      else setTimeout(() => tap.cut(how), 50);
      await tx.execute(sql`select pg_sleep(5)`);
    });
    expect(isDatabaseUnreachable(await faultOf(work))).toBe(true);
    await vi.waitFor(
      async () => expect(await database.db.execute(sql`select 1 as one`)).toMatchObject([{ one: 1 }]),
      eventually,
    );
  },
);

test.each([
  { how: "end", mode: "directly" },
  { how: "reset", mode: "directly" },
  { how: "reset", mode: "behind a pooler" },
] as const)(
  "a statement sent $mode while its connection breaks ($how) returns its own rows or a connection error",
  { timeout: 60_000 },
  async ({ how, mode }) => {
    const { db, hot } = mode === "directly" ? database : pooled;
    const answers: unknown[] = [];
    for (let round = 0; round < 20; round++) {
      await vi.waitFor(() => hot`select ${round}::int as n`, eventually);
      tap.cut(how);
      const pending: Promise<unknown>[] = [];
      const answerOf = (work: Promise<unknown>, n: number) =>
        work.then(
          (rows) => (rows as { n: number }[])[0]?.n === n || rows,
          (error) => isDatabaseUnreachable(error) || error,
        );
      // One in each of the next turns of the event loop: in some of them the driver has received the loss and
      // not handled it yet.
      for (let n = 0; n < 15; n++) {
        await turn();
        const work =
          n % 3 === 0
            ? db.transaction(async (tx) => {
                await tx.execute(sql`select 1`);
                return tx.execute(sql`select ${n}::int as n`);
              })
            : Promise.resolve(hot`select ${n}::int as n`);
        pending.push(answerOf(work, n));
      }
      answers.push(...(await Promise.all(pending)));
    }
    expect(answers.filter((answer) => answer !== true)).toEqual([]);
  },
);

/**
 * A task that pauses in its transaction while its connection is lost, and continues when `resume` is called.
 */
function createPausedTask() {
  let paused = 0;
  const { passed: resumed, open: resume } = createGate();
  return {
    resume,
    paused: () => paused,
    async pause(tx: TransactionSql) {
      await tx`select 1`;
      paused++;
      await resumed;
    },
  };
}

test("statements of a transaction after the loss of its connection are rejected", async () => {
  const results: unknown[] = [];
  const task = createPausedTask();
  const lost = (ask: (tx: TransactionSql) => Promise<unknown>) =>
    faultOf(
      database.hot.begin(async (tx) => {
        await task.pause(tx);
        await ask(tx).then(
          () => results.push("answered"),
          (error) => results.push(error),
        );
      }),
    );
  const works = [
    lost((tx) => tx`select pg_backend_pid()`),
    lost((tx) => tx.savepoint((nested) => nested.unsafe("select pg_backend_pid()"))),
  ];
  await vi.waitFor(() => expect(task.paused()).toBe(2), eventually);
  tap.cut("reset");
  for (const fault of await Promise.all(works)) expect(isDatabaseUnreachable(fault)).toBe(true);
  // Both connections are used by other tasks now.
  await vi.waitFor(() => Promise.all([1, 2, 3].map(() => database.hot`select pg_sleep(0.05)`)), eventually);
  task.resume();
  await vi.waitFor(() => expect(results).toHaveLength(2), eventually);
  expect(results.map(isDatabaseUnreachable)).toEqual([true, true]);
});

test.each(["completed", "failed in"])(
  "a task that %s its work after the loss of its connection does not end the transaction of another task",
  async (how) => {
    const task = createPausedTask();
    const lost = [1, 2].map(() =>
      faultOf(
        database.hot.begin(async (tx) => {
          await task.pause(tx);
          if (how === "failed in") throw new Error("a fault of its own");
        }),
      ),
    );
    await vi.waitFor(() => expect(task.paused()).toBe(2), eventually);
    tap.cut("reset");
    for (const fault of await Promise.all(lost)) expect(isDatabaseUnreachable(fault)).toBe(true);
    await vi.waitFor(() => Promise.all([1, 2, 3].map(() => database.hot`select pg_sleep(0.05)`)), eventually);
    await world.hot`create table if not exists strangers (name text)`;
    const other = createPausedTask();
    // They use both connections, and one of them rolls back.
    const kept = database.hot.begin(async (tx) => {
      await tx`insert into strangers values ('kept')`;
      await other.pause(tx);
    });
    const rolledBack = faultOf(
      database.hot.begin(async (tx) => {
        await tx`insert into strangers values ('undone')`;
        await other.pause(tx);
        throw new Error("thought better of it");
      }),
    );
    await vi.waitFor(() => expect(other.paused()).toBe(2), eventually);
    task.resume();
    for (let n = 0; n < 20; n++) await turn();
    other.resume();
    await kept;
    expect(await rolledBack).toMatchObject({ message: "thought better of it" });
    expect(await world.hot`select name from strangers`).toMatchObject([{ name: "kept" }]);
    await world.hot`drop table strangers`;
  },
);

test.each(["end", "reset"] as const)(
  "a nested transaction reports the loss of its connection (%s) at any statement, and the pool recovers",
  async (how) => {
    for (const held of ["savepoint", "select 42", "rollback to"]) {
      const reached = tap.holdAt("up", held);
      const work = database.db.transaction(async (tx) => {
        await tx.execute(sql`select 1`);
        await tx
          .transaction(async (nested) => {
            await nested.execute(sql`select 42`);
            throw new Error("so that it is rolled back");
          })
          .catch(() => {});
        await tx.execute(sql`select 2`);
      });
      const fault = faultOf(work);
      await reached;
      tap.cut(how);
      expect(isDatabaseUnreachable(await fault), held).toBe(true);
    }
    await vi.waitFor(
      async () => expect(await database.db.execute(sql`select 1 as one`)).toMatchObject([{ one: 1 }]),
      eventually,
    );
  },
);

test("a connection error of another connection rolls a transaction back like any other error", async () => {
  const elsewhere = Object.assign(new Error("no mail server"), { code: "ECONNREFUSED" });
  const work = database.hot.begin(async (tx) => {
    await tx`select 1`;
    throw elsewhere;
  });
  expect(await faultOf(work)).toBe(elsewhere);
});

test.each([
  { how: "reset", mode: "directly" },
  { how: "reset", mode: "behind a pooler" },
  { how: "end", mode: "directly" },
] as const)(
  "while connections are refused $mode ($how), each statement fails; once the database is available, new connections are opened",
  async ({ how, mode }) => {
    const { hot, db } = mode === "directly" ? database : pooled;
    tap.refuse(how === "end" ? "end" : true);
    for (let n = 0; n < 8; n++) {
      expect(isDatabaseUnreachable(await faultOf(Promise.resolve(hot`select 1`)))).toBe(true);
      expect(isDatabaseUnreachable(await faultOf(db.execute(sql`select 1`)))).toBe(true);
    }
    tap.refuse(false);
    const faults: unknown[] = [];
    await vi.waitFor(async () => {
      const all = [1, 2, 3, 4].flatMap(() => [hot`select 1`, db.execute(sql`select 1`)]);
      const settled = await Promise.allSettled(all);
      for (const each of settled) if (each.status === "rejected") faults.push(each.reason);
      expect(settled.every(({ status }) => status === "fulfilled")).toBe(true);
    }, eventually);
    expect(faults).not.toContainEqual(expect.objectContaining({ code: "CONNECT_TIMEOUT" }));
  },
);

test("repeated connection losses under load leave the pool intact", {
  timeout: 120_000,
}, async () => {
  const faults: unknown[] = [];
  let isOver = false;
  // Some send the next statement in the turn of the response, some later: connections break in between.
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
  // Each kind of loss after each pause.
  for (let n = 0; n < 3 * 17; n++) {
    await new Promise((resolve) => setTimeout(resolve, 20 + (n % 17)));
    tap.cut(n % 3 === 0 ? "end" : "reset");
  }
  isOver = true;
  await Promise.all(loads);
  expect(faults.filter((fault) => !isDatabaseUnreachable(fault))).toEqual([]);
  // A connection without a greeting from the server times out.
  expect(faults).not.toContainEqual(expect.objectContaining({ code: "CONNECT_TIMEOUT" }));
  // A connection that was cut last may notice it only with its next statement.
  await vi.waitFor(async () => {
    const together = Array.from(
      { length: 12 },
      () => database.hot`select pg_backend_pid() as pid, pg_sleep(0.2)`,
    );
    const pids = (await Promise.all(together)).map(([row]) => row?.pid);
    expect(new Set(pids).size).toBe(database.hot.options.max);
  }, eventually);
});
