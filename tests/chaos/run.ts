import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "../support/random";
import type { Fault } from "./fault";
import { mountDisk } from "./faults/surroundings";
import { release } from "./kill-stages";
import { type Load, startLoad } from "./load";
import type { Call, Records } from "./records";
import { openRelease } from "./release";
import { openRig, type Rig } from "./rig";

/** A fault, and how often this run injects it. */
export type Planned = { fault: Fault; times: number; seed: string };
/** How often a row was injected, and how long it took. */
export type Done = { fault: Fault; times: number; tookMs: number };

export type RunOptions = {
  print(text: string): void;
  /** From then on each remaining fault is injected once. */
  isLate(): boolean;
  /** The total number of accepted emails when the row that tops them up is over. */
  emails: number;
  /** Whether each row is settled before the next one begins. */
  settlesEach: boolean;
};

const advanceEveryMs = 1_000;
const rowSettlesMaxMs = 30_000;
const allSettlesMaxMs = 120_000;
/** The time for the first injection of each fault, however late it is. */
const firstTimeMs = 30_000;
const usualLoad = { clients: 5, pauseMsMax: 600, destinations: ["ok"] } as const;

/** Runs the faults of one rig, one after the other. The rig is always stopped. */
export async function runRig(
  place: Fault["place"],
  plan: readonly Planned[],
  options: RunOptions,
): Promise<{ records: Records; done: Done[]; outputs: string }> {
  const disk = place === "disk" ? mountDisk() : null;
  if (disk && "reason" in disk) throw new Error(disk.reason);
  try {
    const rig = await openRig({
      way: place === "direct" ? "direct" : "relay",
      ...(disk ? { dataDir: disk.folder } : {}),
      ...(place === "upgrade" ? { release: await openRelease() } : {}),
    });
    try {
      return await runAll(rig, plan, options);
    } finally {
      await rig.close();
    }
  } finally {
    disk?.end();
  }
}

async function runAll(rig: Rig, plan: readonly Planned[], options: RunOptions) {
  const { print, isLate } = options;
  const calls: Call[] = [];
  const done: Done[] = [];
  const advancing = startAdvancing(rig);
  let accepted = 0;
  try {
    for (const { fault, times, seed } of plan) {
      const fromMs = Date.now();
      const wasLate = isLate();
      const load = startLoad({
        ...usualLoad,
        ...fault.load,
        row: fault.name,
        seed,
        baseUrls: rig.processes.baseUrls,
        token: rig.token,
        domain: rig.domain,
      });
      const toAccept = fault.name === "two-workers" ? options.emails - accepted : 0;
      const wanted = wasLate ? 1 : Math.max(times, toAccept);
      const hasUsedItsTime = () => isLate() && Date.now() - fromMs > firstTimeMs;
      const injectedTimes = await runOne(rig, load, fault, wanted, seed, hasUsedItsTime);
      accepted += load.accepted();
      calls.push(...load.calls);
      const isSettled = !options.settlesEach || (await settle(rig, rowSettlesMaxMs));
      done.push({ fault, times: injectedTimes, tookMs: Date.now() - fromMs });
      const seconds = ((Date.now() - fromMs) / 1_000).toFixed(1);
      print(
        `  ${fault.name.padEnd(24)}${String(injectedTimes).padStart(6)} times${String(load.accepted()).padStart(7)} emails${seconds.padStart(7)} s${isSettled ? "" : ", not settled yet"}   seed ${seed}`,
      );
    }
    const isSettledAtEnd = await settle(rig, allSettlesMaxMs, true);
    if (!isSettledAtEnd) for (const line of await describeOpen(rig)) print(`  not settled: ${line}`);
  } finally {
    await advancing.stop();
  }
  const records: Records = { calls, ...(await rig.collect()) };
  return { records, done, outputs: rig.outputs() };
}

async function runOne(
  rig: Rig,
  load: Load,
  fault: Fault,
  times: number,
  seed: string,
  isLate: () => boolean,
): Promise<number> {
  const random = createRandom(`${seed} fault`);
  try {
    return await fault.inject({ rig, load, random, row: fault.name, times, isLate });
  } catch (error) {
    // An aborted fault is one more finding. The other rows still run.
    rig.addFinding(fault.name, `aborted: ${error instanceof Error ? error.stack : String(error)}`);
    return 0;
  } finally {
    release(rig);
    await load.stop();
    for (const who of ["web0", "web1", "worker0", "worker1"] as const)
      await rig.processes
        .isUp(who)
        .catch((error) => rig.addFinding(fault.name, `${who} does not restart: ${error}`));
  }
}

/**
 * Makes deliveries that wait for their next attempt due now. The delays take days and are not tested here.
 */
function startAdvancing(rig: Rig): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const advance = async (round: number) => {
    await rig.ask(
      (hot) => hot`
        update deliveries set due_at = now()
        where status = 'queued' and due_at > now() and due_at <> 'infinity' and (
          wait_rule is distinct from 'destination_throttled' or (${round % 4 === 0} and due_at > now() + interval '2 s'))`,
    );
    await rig.ask(
      (hot) => hot`update webhook_deliveries set due_at = now() where status = 'pending' and due_at > now()`,
    );
    await rig.ask((hot) => hot`update webhooks set paused_until = null where paused_until > now()`);
    await rig.ask((hot) => hot`update smtp_url_relays set paused_until = now() where paused_until > now()`);
    // A destination that objected in one row would hold the emails of all rows after it.
    if (round % 4 === 0)
      await rig.ask(
        (hot) => hot`
          update destination_states
          set connections = greatest(connections, 10), per_minute = null, objections = 0, blocked_until = null
          where blocked_until > now() or per_minute is not null or connections < 10`,
      );
  };
  const advancing = (async () => {
    for (let round = 0; !stopping.signal.aborted; round++) {
      // A concurrent lock may abort it; the next round follows soon.
      await advance(round).catch(() => {});
      await wait(advanceEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await advancing;
    },
  };
}

/** What is still open, and what the database is executing. */
async function describeOpen(rig: Rig): Promise<string[]> {
  const rows = await rig.ask(
    (hot) => hot<{ line: string }[]>`
      select concat_ws(' ', count(*), d.status, q.stage, d.wait_rule, 'due or leased until', max(q.due_at), 'now', now()) as line
      from deliveries d left join queue q on q.id = d.id where d.status in ('queued', 'sending', 'scheduled')
      group by d.status, q.stage, d.wait_rule
      union all
      select concat_ws(' ', count(*), 'webhooks', status, min(due_at), max(leased_until)) from webhook_deliveries
      where status in ('pending', 'attempting') group by status
      union all
      select concat_ws(' ', usename, state, wait_event, now() - state_change, left(query, 60)) from pg_stat_activity
      where usename <> current_user and datname is not null`,
  );
  return rows.map(({ line }) => line);
}

/** Waits until no email is queued, and at the end no webhook either. False if it took too long. */
async function settle(rig: Rig, maxMs: number, isEnd = false): Promise<boolean> {
  for (const untilMs = Date.now() + maxMs; Date.now() < untilMs; await wait(200)) {
    const [open] = await rig.ask(
      (hot) => hot<{ n: number }[]>`
        select (select count(*) from deliveries where status in ('queued', 'sending', 'scheduled'))::int
          + (select count(*) from webhook_deliveries where ${isEnd} and status in ('pending', 'attempting'))::int as n`,
    );
    if (open?.n === 0) return true;
  }
  return false;
}
