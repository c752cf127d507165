import type { WorkerDeps } from "#server/deps";
import { deleteOldDestinations } from "#server/services/destinations/states";
import { deleteOldReports } from "#server/services/reports/retention";
import { deleteOldSystemEmails } from "../system-mail/queue";

/** Retention of API request records. */
const requestsKeptDays = 7;

const requestsBatch = 10_000;
/** Retention of ended system emails. */
const systemEmailsKeptDays = 7;
const systemEmailsBatch = 1_000;

/**
 * Deletes old API request records and system emails in batches, until `shouldContinue` returns false, and old
 * states of destinations and reports about domains.
 */
export async function deleteOldRecords(
  { hot }: Pick<WorkerDeps, "hot">,
  shouldContinue: () => boolean,
): Promise<void> {
  const deleteRequests = async () => {
    const { count } = await hot`
      delete from api_requests where (team_id, id) in
        (select team_id, id from api_requests where created_at < now() - ${requestsKeptDays} * interval '1 day'
         order by created_at limit ${requestsBatch})`;
    return count;
  };
  while (shouldContinue() && (await deleteRequests()) === requestsBatch);
  await deleteOldDestinations(hot);
  await deleteOldReports(hot);
  await deleteOldSystemEmails(hot, systemEmailsKeptDays, systemEmailsBatch);
}
