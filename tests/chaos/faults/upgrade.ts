import { setTimeout as wait } from "node:timers/promises";
import { migrateDatabase } from "#db/migrate";
import { auditQueue } from "../audit";
import type { Fault, FaultContext } from "../fault";
import type { ProcessName } from "../processes";
import { releaseMissing } from "../release";

const acceptedEach = { old: 20, both: 40, new: 20 } as const;
const acceptMsMax = 60_000;
const HALVES = { first: ["web1", "worker1"], last: ["web0", "worker0"] } as const;

/**
 * The latest release is upgraded under load: this build migrates its database and starts beside it, both run
 * for a while, and then the release stops. Before each repetition, all processes are rolled back to the
 * release on the newer schema.
 */
export const upgrade: Fault = {
  name: "upgrade",
  row: "migration while running",
  place: "upgrade",
  times: { full: 3, short: 1 },
  load: { clients: 8, pauseMsMax: 300 },
  unable: releaseMissing,
  async inject(context) {
    const { rig, row, times, isLate } = context;
    const { release, processes } = rig;
    if (release === null) return 0;
    const former = { root: release.root };
    const replace = (half: keyof typeof HALVES, options: { root?: string }) =>
      Promise.all(HALVES[half].map((who) => replaceOne(who, options)));
    const replaceOne = async (who: ProcessName, options: { root?: string }) => {
      const { code, signal } = await processes.stop(who, options);
      if (who.startsWith("worker") && code !== 0) rig.addFinding(row, `${who} ended with ${signal ?? code}`);
      await processes.isUp(who);
    };
    for (let n = 0; n < times; n++) {
      if (n > 0) {
        if (isLate()) return n;
        for (const half of ["first", "last"] as const) await replace(half, former);
      }
      await untilAccepted(context, acceptedEach.old);
      const { applied } = await migrateDatabase(rig.postgres.url);
      if (n === 0 && applied === 0) rig.addFinding(row, "There was nothing to migrate.");
      await rig.ask(auditQueue);
      await untilAccepted(context, acceptedEach.old);

      await replace("first", {});
      const bothFrom = new Date();
      // A process of the release also restarts beside this build: its own start accepts the newer schema.
      await replace("last", former);
      await release.migrate(rig.postgres.url);
      await untilAccepted(context, acceptedEach.both);
      await requireBoth(context, bothFrom);

      await replace("last", {});
      await untilAccepted(context, acceptedEach.new);
    }
    return times;
  },
};

async function untilAccepted({ load, rig, row }: FaultContext, count: number): Promise<void> {
  const wanted = load.accepted() + count;
  for (const untilMs = Date.now() + acceptMsMax; load.accepted() < wanted; await wait(50))
    if (Date.now() > untilMs) return rig.addFinding(row, `Fewer than ${count} emails were accepted in time.`);
}

/** Both versions must have accepted and delivered since then. */
async function requireBoth({ rig, load, row }: FaultContext, from: Date): Promise<void> {
  const workers = await rig.ask(
    (hot) =>
      hot<{ by: string }[]>`select distinct by from audit_steps where at > ${from} and by like 'worker%'`,
  );
  for (const who of ["worker0", "worker1"])
    if (!workers.some(({ by }) => by === who))
      rig.addFinding(row, `${who} delivered nothing beside the other version`);
  for (const web of [0, 1])
    if (
      !load.calls.some(({ tries }) =>
        tries.some((one) => one.web === web && one.id !== null && one.sentAtMs > +from),
      )
    )
      rig.addFinding(row, `web${web} accepted nothing beside the other version`);
}
