import { endWaitingOfDisabled, forgetWebhooks, recoverWebhooks } from "#db/webhook-queue";
import type { Deps } from "#server/deps";
import { webhookAttemptsMax } from "#server/services/webhooks/schedule";

/** How long an endpoint's events are listed and can be replayed. */
const keptDays = 30;
const recoverBatch = 500;
const endBatch = 5_000;
const forgetBatch = 5_000;

/**
 * What has to be done now and then, each bounded: calls of workers that died are due again, what waits for disabled endpoints
 * ends, and what was settled long ago is forgotten. Tells how many calls became due.
 */
export async function sweepWebhooks({ hot, log }: Pick<Deps, "hot" | "log">): Promise<number> {
  const recovered = await recoverWebhooks(hot, webhookAttemptsMax, recoverBatch);
  if (recovered > 0) log.warn("webhook.lease_expired", { count: recovered });
  await endWaitingOfDisabled(hot, endBatch);
  await forgetWebhooks(hot, keptDays, forgetBatch);
  return recovered;
}
