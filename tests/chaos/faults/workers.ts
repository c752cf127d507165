import { setTimeout as wait } from "node:timers/promises";
import { expireLeases } from "../../support/database/leases";
import type { Fault } from "../fault";

/** No fault: two workers share one queue at full speed. The judge checks every claim of every row. */
export const twoWorkers: Fault = {
  name: "two-workers",
  row: "two workers at once",
  place: "relay",
  times: { full: 500, short: 150 },
  load: { clients: 12, pauseMsMax: 60 },
  async inject({ load, times, isLate }) {
    const before = load.accepted();
    while (load.accepted() - before < times && !isLate()) await wait(50);
    return load.accepted() - before;
  },
};

/** When asked to stop, a worker completes what it has started. No outcome may be unknown because of it. */
export const stopInOrder: Fault = {
  name: "sigterm",
  row: "SIGTERM",
  place: "relay",
  times: { full: 16, short: 2 },
  async inject({ rig, row, random, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const who = n % 2 === 0 ? "worker0" : "worker1";
      await rig.processes.isUp(who);
      await wait(random.upTo(500));
      const { code, signal } = await rig.processes.stop(who);
      if (code !== 0) rig.addFinding(row, `${who} ended with ${signal ?? code}`);
    }
    return times;
  },
};

const ticksAtOnce = 3;

/** No worker: only overlapping rounds, of which one is killed and another frozen. */
export const ticks: Fault = {
  name: "ticks",
  row: "serverless function frozen / killed mid-send; cron tick overlaps, is missed, runs twice",
  place: "relay",
  times: { full: 8, short: 0 },
  isKill: true,
  async inject({ rig, row, random, times, isLate }) {
    const workers = ["worker0", "worker1"] as const;
    for (const who of workers)
      await rig.disturb({ row, what: "kill", who }, async () => {
        await rig.processes.kill(who, { staysDown: true });
        await rig.ask(expireLeases);
      });
    let done = 0;
    while (done < times && !isLate()) {
      await rig.disturb({ row, what: "kill", who: "tick" }, async () => {
        const rounds = Array.from({ length: ticksAtOnce }, () => rig.startTick());
        const [killed, frozen] = rounds;
        await wait(1_200 + random.upTo(1_500));
        frozen?.signal("SIGSTOP");
        await wait(random.upTo(600));
        await killed?.kill();
        await wait(random.upTo(1_000));
        frozen?.signal("SIGCONT");
        await Promise.all(rounds.map(({ exited }) => exited));
        // No worker is left, so everything in progress belonged to the killed one.
        await rig.ask(expireLeases);
      });
      done++;
    }
    for (const who of workers) await rig.processes.start(who);
    return done;
  },
};

const refusedMs = 3_000;

/** The relay rejects our password for a while. No email may bounce because of it. */
export const loginRefused: Fault = {
  name: "login-refused",
  row: "AUTH fails at relay (535)",
  place: "relay",
  times: { full: 3, short: 0 },
  async inject({ rig, times, isLate }) {
    const startAgain = async () => {
      for (const who of ["worker0", "worker1"] as const) await rig.processes.stop(who);
      for (const who of ["worker0", "worker1"] as const) await rig.processes.isUp(who);
    };
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      rig.refuseLogin(true);
      // Connections that are already logged in would not be affected.
      await startAgain();
      await wait(refusedMs);
      rig.refuseLogin(false);
      // The pause of the relay outlives the processes. `startAdvancing` makes its next probe due.
      await startAgain();
    }
    return times;
  },
};
