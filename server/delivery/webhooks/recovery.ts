import type { HotSql } from "#db/client";
import { RECOVERY_AFTER_SECONDS } from "#server/services/webhooks/schedule";

const batch = 1_000;

/**
 * Makes the pending event deliveries of a failing endpoint due now, in batches, each a transaction, in the order of their
 * due times. Call it before the success is recorded as the end of the failures: if the process stops in between, the next
 * success continues. Changes only due times: attempts still count, the claim limits how many are sent at once, and rows that a
 * worker has claimed are skipped. Does nothing for a healthy or a disabled endpoint, or if its URL is no longer `url`.
 */
export async function makePendingDue(hot: HotSql, webhookId: string, url: string): Promise<void> {
  for (;;) {
    const { count } = await hot`
      with waiting as materialized (
        select d.id
        from webhooks w join webhook_deliveries d on d.webhook_id = w.id
        where w.id = ${webhookId} and w.url = ${url} and w.status = 'enabled'
          and d.status = 'pending' and d.due_at > now()
          and w.failing_since <= now()
            - coalesce((${[...RECOVERY_AFTER_SECONDS]}::float8[])[d.attempts], 0) * interval '1 s'
        order by d.due_at, d.id limit ${batch} for no key update of d skip locked
      )
      update webhook_deliveries d set due_at = now() from waiting where d.id = waiting.id`;
    if (count < batch) return;
  }
}
