import { desc, sql } from "drizzle-orm";
import { TICK_WORKER_ID, workers } from "#db/schema/deliveries";
import type { Deps } from "#server/deps";
import { isActiveWorker } from "../health";

const workersMax = 200;

/**
 * The workers of the last day, the latest heartbeat first. One without a recent heartbeat has exited or
 * hangs.
 */
export const listWorkers = ({ db }: Pick<Deps, "db">) =>
  db
    .select({
      id: workers.id,
      host: workers.host,
      pid: workers.pid,
      transport: workers.transport,
      startedAt: workers.startedAt,
      beatAt: workers.beatAt,
      isActive: sql<boolean>`${isActiveWorker}`,
      /** The rounds that the scheduled route starts share one row. */
      isScheduled: sql<boolean>`${workers.id} = ${TICK_WORKER_ID}`,
    })
    .from(workers)
    .orderBy(desc(workers.beatAt))
    .limit(workersMax);
