import { setTimeout as wait } from "node:timers/promises";
import type { Ask } from "../audit";
import type { Fault, FaultContext } from "../fault";
import { reachKillPoint, release } from "../kill-stages";
import type { ProcessName } from "../processes";
import type { Rig } from "../rig";

/**
 * The connection is lost after COMMIT was sent. Whether it was executed is recorded only in the database.
 * Ends when the database has no statement of the lost connections any more: until then, one may commit what
 * its process will never know.
 */
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
      await rig.disturb({ row, what: "cut", who }, async () => {
        // Either the database's response is held (executed), or the packet itself.
        const isResponseHeld = isWeb && n % 4 === 0;
        const wasReached = await reachKillPoint(rig, load, {
          who,
          aim: isWeb ? (isResponseHeld ? "queued" : "before commit") : "answered",
          variant: isWeb ? 0 : 1,
          web: 0,
          worker: 0,
        });
        if (wasReached) await wait(20);
        // A packet that is forwarded just before the loss is executed; otherwise it never arrives.
        if (!isResponseHeld && random.chance(0.5)) release(rig);
        rig.taps[who].cut(random.chance(0.5) ? "end" : "reset");
        release(rig);
        await connectionsEnded(rig, who, Date.now());
      });
      await wait(random.upTo(200));
    }
    return times;
  },
};

async function connectionsEnded(rig: Rig, who: ProcessName, openedBeforeMs: number): Promise<void> {
  const isEnded = () =>
    rig.ask(async (hot) => {
      const backends = await hot`
        select from pg_stat_activity
        where usename = ${who} and backend_start < to_timestamp(${openedBeforeMs / 1000}::float8) limit 1`;
      return backends.length === 0;
    });
  while (!(await isEnded())) await wait(2);
}

const downMs = 8_000;

/** The HTTP servers start first, without a database behind them. */
export const startWithoutDatabase: Fault = {
  name: "database-down-at-start",
  row: "DB down at start",
  place: "relay",
  times: { full: 2, short: 0 },
  async inject({ rig, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      await rig.disturb({ row, what: "kill", who: "worker0" }, async () => {
        await rig.processes.kill("web0", { staysDown: true });
        await rig.processes.kill("worker0", { staysDown: true });
        for (const who of ["web0", "worker0"] as const) rig.taps[who].refuse(true);
        await rig.processes.start("web0", { isUnready: true });
        await rig.processes.start("worker0", { isUnready: true });
        await expectStatus(rig.processes.baseUrls[0], "/api/health", 200, (what) =>
          rig.addFinding(row, what),
        );
        await expectStatus(rig.processes.baseUrls[0], "/api/health/ready", 503, (what) =>
          rig.addFinding(row, what),
        );
        await wait(downMs);
        for (const who of ["web0", "worker0"] as const) rig.taps[who].refuse(false);
        await untilReady(rig.processes.baseUrls[0]);
      });
      // From now on they restart as usual.
      await rig.processes.kill("worker0", { staysDown: true });
      await rig.processes.start("worker0");
    }
    return times;
  },
};

async function expectStatus(
  baseUrl: string,
  path: string,
  status: number,
  addFinding: (what: string) => void,
): Promise<void> {
  const answer = await fetch(`${baseUrl}${path}`).catch(() => null);
  if (answer?.status !== status)
    addFinding(`${path} responds with ${answer?.status ?? "nothing"} without a database`);
}

async function untilReady(baseUrl: string): Promise<void> {
  for (const untilMs = Date.now() + 30_000; Date.now() < untilMs; await wait(100)) {
    const answer = await fetch(`${baseUrl}/api/health/ready`).catch(() => null);
    if (answer?.ok) return;
  }
  throw new Error("It did not become ready after its database was available.");
}

const lockedMs = 4_000;
const LOCKS = ["email_bodies", "deliveries", "email_events"] as const;

/** A transaction of another client that locks what all requests need, for longer than a request waits. */
export const lockTables: Fault = {
  name: "long-transaction",
  row: "pool exhausted / long tx",
  place: "relay",
  times: { full: 6, short: 1 },
  async inject({ rig, random, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const table = LOCKS[n % LOCKS.length] ?? "deliveries";
      await rig.disturb({ row, what: "lock", who: "postgres" }, () =>
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

/**
 * A client that locks the same rows in the opposite order, so that one of the two transactions is canceled.
 */
export const deadlock: Fault = {
  name: "deadlock",
  row: "deadlock / serialization 40P01, 40001",
  place: "relay",
  times: { full: 12, short: 2 },
  load: { pauseMsMax: 150 },
  async inject(context) {
    const { rig, row, times, isLate } = context;
    const before = await deadlocksOf(context);
    for (let tries = 0; tries < times * 2 + chances && !isLate(); tries++) {
      await rig.disturb({ row, what: "lock", who: "postgres" }, () => lockBackwards(context));
      if ((await deadlocksOf(context)) - before >= times) break;
    }
    return (await deadlocksOf(context)) - before;
  },
};

/** PostgreSQL chooses which transaction is canceled, if any. */
const chances = 4;
const gatherMs = 300;
const meetMsMax = 2_000;
const pollMs = 20;

/**
 * Locks the last recipient of each email whose results are about to be written, and the first one once a
 * worker waits for the last one.
 */
async function lockBackwards({ rig }: FaultContext): Promise<void> {
  await Promise.race([rig.holdMessage("written", "worker0"), wait(2_000)]);
  await wait(gatherMs);
  const lock = async (hot: Ask) =>
    hot.begin(async (tx) => {
      const ends = await tx<{ first: string; last: string }[]>`
        select min(id::text) as first, max(id::text) as last from queue
        where stage = 'handed_over' group by email_id having count(*) > 1 order by 1`;
      for (const { last } of ends) await tx`select 1 from queue where id = ${last}::uuid for update`;
      rig.releaseMessage();
      const isAwaited = async () => {
        const waiting = await tx`
          select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
        return waiting.length > 0;
      };
      const untilMs = Date.now() + meetMsMax;
      while (ends.length > 0 && !(await isAwaited()) && Date.now() < untilMs) await wait(pollMs);
      for (const { first } of ends) await tx`select 1 from queue where id = ${first}::uuid for update`;
    });
  await rig.ask((hot) => lock(hot).catch(ignoreDeadlock)).finally(() => rig.releaseMessage());
}

/** 40P01: this transaction was canceled. */
function ignoreDeadlock(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "40P01")) throw error;
}

async function deadlocksOf({ rig }: FaultContext): Promise<number> {
  const [row] = await rig.ask(
    (hot) => hot<{ n: number }[]>`
      select deadlocks::int as n from pg_stat_database where datname = current_database()`,
  );
  return row?.n ?? 0;
}
