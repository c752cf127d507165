import { setTimeout as wait } from "node:timers/promises";
import type { Fault, FaultContext } from "../fault";
import { killPostgres, type PostgresKill } from "../kill-postgres";
import { type KillPoint, reachKillPoint, release } from "../kill-stages";
import { STAGES, type Stage } from "../records";

const pauseMsMax = 300;
const DEATHS: [PostgresKill, ...PostgresKill[]] = ["all", "postmaster", "immediate"];

type Aim = Stage | "random";
type Plan = { who: readonly KillPoint["who"][]; aims: readonly Aim[] };

/** One kill after the other, each at its stage. */
const kill = ({ who, aims }: Plan) =>
  async function inject({ rig, load, random, row, times, isLate }: FaultContext): Promise<number> {
    for (let n = 0; n < times; n++) {
      if (isLate()) return n;
      await wait(random.upTo(pauseMsMax));
      const killPoint: KillPoint = {
        who: who[n % who.length] ?? "web0",
        aim: aims[Math.floor(n / who.length) % aims.length] ?? "random",
        variant: random.chance(0.5) ? 1 : 0,
        web: random.chance(0.5) ? 1 : 0,
        worker: random.chance(0.5) ? 1 : 0,
      };
      const isReached = await reachKillPoint(rig, load, killPoint);
      const stage = isReached && killPoint.aim !== "random" ? { stage: killPoint.aim } : {};
      const how = random.pick(DEATHS);
      const victim = killPoint.who;
      await rig.disturb({ row, what: "kill", who: victim, ...stage }, async () => {
        if (victim === "postgres") await killPostgres(rig.postgres, how);
        else await rig.processes.kill(victim);
        release(rig);
        if (victim === "postgres") await rig.ask((hot) => hot`select 1`);
      });
    }
    return times;
  };

const WEBS = ["web0", "web1"] as const;
const WORKERS = ["worker0", "worker1"] as const;

export const killQueued: Fault = {
  name: "kill-queued",
  row: "kill -9 between accept and send",
  place: "relay",
  times: { full: 50, short: 4 },
  isKill: true,
  inject: kill({ who: [...WEBS, ...WORKERS], aims: ["queued"] }),
};

export const killBeforeCommit: Fault = {
  name: "kill-before-commit",
  row: "kill -9 before commit; key reused after it",
  place: "relay",
  times: { full: 40, short: 4 },
  isKill: true,
  inject: kill({ who: WEBS, aims: ["before commit"] }),
};

export const killHandedOver: Fault = {
  name: "kill-handed-over",
  row: "kill -9 between SMTP 250 and commit",
  place: "relay",
  times: { full: 70, short: 10 },
  isKill: true,
  inject: kill({ who: WORKERS, aims: ["answered", "handed over", "claimed"] }),
};

export const killPostgresFault: Fault = {
  name: "kill-postgres",
  row: "database restart mid-request and in the middle of a commit",
  place: "relay",
  times: { full: 50, short: 5 },
  isKill: true,
  inject: kill({ who: ["postgres"], aims: STAGES }),
};

export const killAnything: Fault = {
  name: "kill-anything",
  row: "kill -9 of any process at any moment",
  place: "relay",
  times: { full: 30, short: 8 },
  isKill: true,
  inject: kill({ who: [...WEBS, ...WORKERS, "postgres"], aims: ["random"] }),
};

export const killDirect: Fault = {
  name: "kill-direct",
  row: "kill -9 while delivering directly to MX hosts, one recipient per transaction",
  place: "direct",
  times: { full: 40, short: 3 },
  isKill: true,
  load: { destinations: ["ok", "ok", "two-servers", "no-mx", "tls-works"] },
  inject: kill({ who: [...WORKERS, "web0"], aims: ["answered", "handed over", "random"] }),
};
