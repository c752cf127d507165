import { RELEASE } from "#db/compatibility";
import { TICK_WORKER_ID } from "#db/schema/deliveries";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { type Held, holdRestored } from "./hold";

/** A worker is active for this long after its last heartbeat, an external scheduler after its last call. */
const activeSeconds = { worker: 30, tick: 600 };

/**
 * Holds the queue of this database as a restore does, and records it like one. The time of the copy is that
 * of the last heartbeat in it. AppError `conflict` while a worker is active: what it has claimed could not be
 * held.
 */
export async function holdQueue({ hot }: Pick<Deps, "hot">): Promise<Held> {
  return hot.begin(async (tx) => {
    // Of a large queue, the update takes longer than a statement of a request may.
    await tx`set local statement_timeout = 0`;
    // A worker that starts meanwhile claims nothing.
    await tx`lock table deliveries in exclusive mode`;
    const [active] = await tx<{ host: string; pid: number; isTick: boolean }[]>`
      select host, pid, id = ${TICK_WORKER_ID} as "isTick" from workers
      where beat_at > now() - case when id = ${TICK_WORKER_ID} then ${activeSeconds.tick}::int
        else ${activeSeconds.worker}::int end * interval '1 second'
      limit 1`;
    if (active)
      throw new AppError(
        "conflict",
        active.isTick
          ? `/api/cron/tick was called within ${activeSeconds.tick / 60} minutes, so email may be in progress. Stop the scheduler, wait, and run this again.`
          : `A worker is active (process ${active.pid} on ${active.host}). Stop Backstamp, wait ${activeSeconds.worker} seconds, and run this again.`,
      );
    const result = await holdRestored(tx);
    await tx`
      insert into restores (id, taken_at, release, held)
      select ${newId()}, coalesce(max(beat_at), now()), ${RELEASE}, ${result.held} from workers`;
    return result;
  });
}
