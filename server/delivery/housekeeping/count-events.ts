import type { WorkerDeps } from "#server/deps";
import { errorFacts } from "#server/platform/log";
import { countRecipients, findUncounted } from "#server/services/metrics/count";

const teamsBatch = 500;
/** An email whose events are in two batches is read twice, so batches are large. */
const eventsBatch = 10_000;

/**
 * Counts the recipients of each status by events, which must happen before their emails can be deleted. It
 * works in small steps and stops between them when `shouldContinue` returns false; the next run continues
 * there.
 */
export async function countNewEvents(
  deps: Pick<WorkerDeps, "hot" | "log">,
  shouldContinue: () => boolean,
): Promise<void> {
  for (const teamId of await findUncounted(deps.hot, teamsBatch))
    await countRecipientsOf(deps, teamId, shouldContinue);
}

/**
 * Counts the team's recipients. A batch that fails is repeated with a tenth of the events, down to one:
 * events of emails with many recipients can take longer than a statement may. A team that cannot be counted
 * must not stop the others, whose retention waits for their counts.
 */
async function countRecipientsOf(
  { hot, log }: Pick<WorkerDeps, "hot" | "log">,
  teamId: string,
  shouldContinue: () => boolean,
): Promise<void> {
  let limit = eventsBatch;
  while (shouldContinue()) {
    try {
      if ((await countRecipients(hot, teamId, { limit, wait: false })) !== limit) return;
    } catch (error) {
      log.error("metrics.not_counted", { teamId, events: limit, ...errorFacts(error) });
      if (limit === 1) return;
      limit = Math.ceil(limit / 10);
    }
  }
}
