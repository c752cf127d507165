import { setTimeout as wait } from "node:timers/promises";
import { reachMoment, release } from "../aims";
import type { Ask } from "../audit";
import type { Fault, Scene } from "../fault";

/** The connection is lost once COMMIT is on its way: whether it was carried out, only the database knows. */
export const cutCommit: Fault = {
  name: "cut-commit",
  row: "connection lost during COMMIT",
  place: "relay",
  times: { full: 40, short: 6 },
  async inject({ rig, load, random, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const isWeb = n % 2 === 0;
      const who = isWeb ? (random.chance(0.5) ? "web1" : "web0") : random.chance(0.5) ? "worker1" : "worker0";
      await rig.trouble({ row, what: "cut", who }, async () => {
        // The answer of the database is held back, or the packet itself: carried out, or not.
        const wasReached = await reachMoment(rig, load, {
          who,
          aim: isWeb ? (n % 4 === 0 ? "queued" : "before commit") : "answered",
          variant: isWeb ? 0 : 1,
          web: 0,
          worker: 0,
        });
        if (wasReached) await wait(20);
        rig.taps[who].cut(random.chance(0.5) ? "end" : "reset");
        release(rig);
      });
      await wait(random.upTo(200));
    }
    return times;
  },
};

const downMs = 8_000;

/** The doors open first, and there is no database behind them. */
export const startWithoutDatabase: Fault = {
  name: "database-down-at-start",
  row: "DB down at start",
  place: "relay",
  times: { full: 2, short: 0 },
  async inject({ rig, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      await rig.trouble({ row, what: "kill", who: "worker0" }, async () => {
        await rig.cast.kill("web0", { staysDown: true });
        await rig.cast.kill("worker0", { staysDown: true });
        for (const who of ["web0", "worker0"] as const) rig.taps[who].refuse(true);
        await rig.cast.start("web0", { isUnready: true });
        await rig.cast.start("worker0", { isUnready: true });
        await expectStatus(rig.cast.baseUrls[0], "/api/health", 200, (what) => rig.complain(row, what));
        await expectStatus(rig.cast.baseUrls[0], "/api/health/ready", 503, (what) => rig.complain(row, what));
        await wait(downMs);
        for (const who of ["web0", "worker0"] as const) rig.taps[who].refuse(false);
        await untilReady(rig.cast.baseUrls[0]);
      });
      // From now on they come back as they usually do.
      await rig.cast.kill("worker0", { staysDown: true });
      await rig.cast.start("worker0");
    }
    return times;
  },
};

async function expectStatus(
  baseUrl: string,
  path: string,
  status: number,
  complain: (what: string) => void,
): Promise<void> {
  const answer = await fetch(`${baseUrl}${path}`).catch(() => null);
  if (answer?.status !== status)
    complain(`${path} answers ${answer?.status ?? "nothing"} without a database`);
}

async function untilReady(baseUrl: string): Promise<void> {
  for (const untilMs = Date.now() + 30_000; Date.now() < untilMs; await wait(100)) {
    const answer = await fetch(`${baseUrl}/api/health/ready`).catch(() => null);
    if (answer?.ok) return;
  }
  throw new Error("It did not become ready after its database had come.");
}

const lockedMs = 4_000;
const LOCKS = ["email_bodies", "deliveries", "email_events"] as const;

/** A transaction of somebody else's that holds what everybody needs, for longer than a request waits. */
export const lockTables: Fault = {
  name: "long-transaction",
  row: "pool exhausted / long tx",
  place: "relay",
  times: { full: 6, short: 1 },
  async inject({ rig, random, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const table = LOCKS[n % LOCKS.length] ?? "deliveries";
      await rig.trouble({ row, what: "lock", who: "postgres" }, () =>
        rig.ask((hot) =>
          hot.begin(async (tx) => {
            await tx.unsafe(`lock table ${table} in share row exclusive mode`);
            await wait(lockedMs);
          }),
        ),
      );
      await wait(random.upTo(1_000));
    }
    return times;
  },
};

/** Somebody who locks the same rows in the opposite order, so that one of the two has to give way. */
export const deadlock: Fault = {
  name: "deadlock",
  row: "deadlock / serialization 40P01, 40001",
  place: "relay",
  times: { full: 12, short: 2 },
  load: { pauseMsMax: 150 },
  async inject(scene) {
    const { rig, row, times, isLate } = scene;
    const before = await deadlocksOf(scene);
    for (let tries = 0; tries < times * 2 + chances && !isLate(); tries++) {
      await rig.trouble({ row, what: "lock", who: "postgres" }, () => lockBackwards(scene));
      if ((await deadlocksOf(scene)) - before >= times) break;
    }
    return (await deadlocksOf(scene)) - before;
  },
};

/** Whose turn it is to give way is not ours to say, and may be nobody's. */
const chances = 4;
const gatherMs = 300;
const meetMs = 200;

/** Locks the last recipient of each mail whose results are about to be written, and then the first one. */
async function lockBackwards({ rig }: Scene): Promise<void> {
  await Promise.race([rig.holdMail("written", "worker0"), wait(2_000)]);
  await wait(gatherMs);
  const lock = async (hot: Ask) =>
    hot.begin(async (tx) => {
      const ends = await tx<{ first: string; last: string }[]>`
        select min(id::text) as first, max(id::text) as last from deliveries
        where status = 'sending' and stage = 'handed_over' group by email_id having count(*) > 1 order by 1`;
      for (const { last } of ends) await tx`select 1 from deliveries where id = ${last}::uuid for update`;
      rig.releaseMail();
      await wait(meetMs);
      for (const { first } of ends) await tx`select 1 from deliveries where id = ${first}::uuid for update`;
    });
  await rig.ask((hot) => lock(hot).catch(ignoreDeadlock)).finally(() => rig.releaseMail());
}

/** 40P01: it was this transaction that had to give way. */
function ignoreDeadlock(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "40P01")) throw error;
}

async function deadlocksOf({ rig }: Scene): Promise<number> {
  const [row] = await rig.ask(
    (hot) => hot<{ n: number }[]>`
      select deadlocks::int as n from pg_stat_database where datname = current_database()`,
  );
  return row?.n ?? 0;
}
