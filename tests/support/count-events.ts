import { expect } from "vitest";
import { countNewEvents } from "#server/delivery/housekeeping/count-events";
import type { WorkerDeps } from "#server/deps";

/**
 * Counts all events, which retention waits for. In several rounds, because the counts follow the feed: a
 * transaction of another test that ends at that moment can hold it back, like one of this database.
 */
export async function countEvents(deps: WorkerDeps): Promise<void> {
  const countRest = async () => {
    await countNewEvents(deps, () => true);
    const [row] = await deps.hot<{ rest: number }[]>`
      select count(*)::int as rest from email_events e
      where not exists (
        select from metrics_progress m
        where m.team_id = e.team_id and (e.position, e.id) <= (m.position, m.event_id)
      )`;
    return row?.rest;
  };
  await expect.poll(countRest).toBe(0);
}
