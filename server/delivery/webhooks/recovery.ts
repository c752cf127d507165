import type { HotSql } from "#db/client";
import { RECOVERY_AFTER_SECONDS, recoverySecondsMin } from "#server/services/webhooks/schedule";

const batchRows = 1_000;
/** Of one recovery. What is beyond waits for its own times, or for a member who retries it. */
const batchesMax = 100;

/** The end of a run of failures of an endpoint. */
export type Recovery = { webhookId: string; url: string; failedSeconds: number };

/**
 * Makes the pending event deliveries of an endpoint that has recovered due now, in the order of their due
 * times. Each batch is a transaction and reads the next rows, so its cost does not depend on the number of
 * the others. Changes only due times: attempts still count, the claim limits how many are sent at once, and
 * rows that a worker has claimed are skipped. Does nothing for a short run of failures, and stops if the
 * endpoint was disabled, its URL is no longer `url`, or `shouldContinue` returns false. If the process stops
 * in between, the rest waits for its own times.
 */
export async function makePendingDue(
  hot: HotSql,
  { webhookId, url, failedSeconds }: Recovery,
  shouldContinue: () => boolean,
): Promise<void> {
  if (failedSeconds < recoverySecondsMin) return;
  const afterSeconds = RECOVERY_AFTER_SECONDS.map((seconds) => (seconds <= failedSeconds ? 1 : 0));
  let last: { dueAt: string; id: string } | null = null;
  for (let batch = 0; batch < batchesMax && shouldContinue(); batch++) {
    const rows: { dueAt: string; id: string }[] = await hot`
      with waiting as materialized (
        select d.id, d.due_at
        from webhooks w join webhook_deliveries d on d.webhook_id = w.id
        where w.id = ${webhookId} and w.url = ${url} and w.status = 'enabled'
          and (w.paused_until is null or w.paused_until <= now())
          and d.status = 'pending' and d.due_at > now()
          and (${last?.id ?? null}::uuid is null or (d.due_at, d.id) > (${last?.dueAt ?? null}::timestamptz, ${last?.id ?? null}::uuid))
        order by d.due_at, d.id limit ${batchRows} for no key update of d skip locked
      ), moved as (
        update webhook_deliveries d set due_at = now() from waiting
        where d.id = waiting.id and coalesce((${afterSeconds}::int[])[d.attempts], 1) = 1
      )
      select due_at::text as "dueAt", id from waiting order by due_at desc, id desc limit 1`;
    last = rows[0] ?? null;
    if (last === null) return;
  }
}
