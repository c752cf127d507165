import type { Deps } from "#server/deps";
import { webhookAttemptsMax } from "#server/services/webhooks/schedule";
import { deleteOldWebhookDeliveries, failPendingOfDisabled, recoverWebhooks } from "./queue";

/** Retention of event deliveries: how long they are listed and can be replayed. */
const keptDays = 30;
const recoverBatch = 500;
const endBatch = 5_000;
const deleteBatch = 5_000;

/**
 * Periodic maintenance, each part bounded: recovers expired leases, fails pending events of disabled endpoints and deletes old
 * event deliveries. Returns how many leases were recovered.
 */
export async function sweepWebhooks({ hot, log }: Pick<Deps, "hot" | "log">): Promise<number> {
  const recovered = await recoverWebhooks(hot, webhookAttemptsMax, recoverBatch);
  if (recovered > 0) log.warn("webhook.lease_expired", { count: recovered });
  await failPendingOfDisabled(hot, endBatch);
  await deleteOldWebhookDeliveries(hot, keptDays, deleteBatch);
  return recovered;
}
