import { setTimeout as wait } from "node:timers/promises";
import type { Fault } from "../fault";
import { freezePostgres } from "../kill-postgres";
import { reachKillPoint, release } from "../kill-stages";
import type { Stage } from "../records";
import { leaseSeconds } from "../rig";

const STAGES: readonly (Stage | "random")[] = ["answered", "handed over", "random"];
/** Until another worker has detected it and done its work. */
const beyondMs = 9_000;

/** While it is stopped its lease expires and the other worker takes over. Then it continues where it was. */
export const freezeWorker: Fault = {
  name: "freeze-worker",
  row: "worker frozen (SIGSTOP) past its lease, then SIGCONT",
  place: "relay",
  times: { full: 6, short: 1 },
  async inject({ rig, load, random, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const who = n % 2 === 0 ? "worker0" : "worker1";
      const aim = STAGES[n % STAGES.length] ?? "random";
      const variant = random.chance(0.5) ? 1 : 0;
      await reachKillPoint(rig, load, { who, aim, variant, web: 0, worker: 0 });
      await rig.disturb({ row, what: "freeze", who }, async () => {
        const frozen = rig.processes.freeze(who, leaseSeconds * 1_000 + beyondMs);
        await wait(50);
        release(rig);
        await frozen;
      });
      await wait(random.upTo(1_000));
    }
    return times;
  },
};

/** Its requests wait, or are repeated at the other web process. */
export const freezeWeb: Fault = {
  name: "freeze-web",
  row: "web process frozen and thawed under load",
  place: "relay",
  times: { full: 6, short: 1 },
  async inject({ rig, random, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      const who = n % 2 === 0 ? "web0" : "web1";
      await wait(random.upTo(400));
      await rig.disturb({ row, what: "freeze", who }, () =>
        rig.processes.freeze(who, 1_000 + random.upTo(3_000)),
      );
    }
    return times;
  },
};

/** Connections stay open and do not respond. */
export const freezeDatabase: Fault = {
  name: "freeze-postgres",
  row: "database hangs",
  place: "relay",
  times: { full: 6, short: 1 },
  async inject({ rig, random, row, times, isLate }) {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      await wait(random.upTo(1_000));
      await rig.disturb({ row, what: "freeze", who: "postgres" }, async () => {
        const thaw = freezePostgres(rig.postgres);
        await wait(1_000 + random.upTo(4_000));
        thaw();
        await rig.ask((hot) => hot`select 1`);
      });
    }
    return times;
  },
};
