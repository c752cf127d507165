import type { WorkerDeps } from "#server/deps";
import { errorFacts } from "#server/platform/log";
import { countRecipients, findUncounted } from "#server/services/metrics/count";
import { deleteOldSystemEmails } from "../system-mail/queue";

/** Retention of API request records. */
export const requestsKeptDays = 7;

const teamsBatch = 500;
/** Each event of a batch reads the earlier ones of its email. */
const eventsBatch = 5_000;
const requestsBatch = 10_000;
/** Retention of ended system emails. */
const systemEmailsKeptDays = 7;
const systemEmailsBatch = 1_000;

/**
 * Counts the recipients of each status by events, which must happen before their emails can be deleted, and
 * deletes old API request records and system emails. It works in small steps and stops between them when
 * `shouldContinue` returns false; the next run continues there.
 */
export async function aggregateUsage(deps: WorkerDeps, shouldContinue: () => boolean): Promise<void> {
  const { hot } = deps;
  for (const teamId of await findUncounted(hot, teamsBatch))
    await countRecipientsOf(deps, teamId, shouldContinue);
  const deleteRequests = async () => {
    const { count } = await hot`
      delete from api_requests where (team_id, id) in
        (select team_id, id from api_requests where created_at < now() - ${requestsKeptDays} * interval '1 day'
         order by created_at limit ${requestsBatch})`;
    return count;
  };
  while (shouldContinue() && (await deleteRequests()) === requestsBatch);
  await deleteOldSystemEmails(hot, systemEmailsKeptDays, systemEmailsBatch);
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
