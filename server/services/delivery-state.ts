import { gt, sql } from "drizzle-orm";
import { workers } from "#db/schema/workers";
import type { Deps } from "#server/deps";

/** A worker beats every 5 s, and a scheduler that calls for rounds of delivery does so at least once a minute. */
const beatOldSeconds = 90;

export type DeliveryState = {
  /** Where mail for real recipients goes; `none` where it waits. */
  transport: Deps["transportKind"];
  /** Whether anything drains the queue. */
  isDrained: boolean;
};

/** Whether mail that is accepted now will also leave. */
export async function readDeliveryState(deps: Deps): Promise<DeliveryState> {
  const [live] = await deps.db
    .select({ id: workers.id })
    .from(workers)
    .where(gt(workers.beatAt, sql`now() - ${beatOldSeconds} * interval '1 second'`))
    .limit(1);
  return { transport: deps.transportKind, isDrained: live !== undefined };
}
