import type { Deps } from "#server/deps";
import { webhookAttemptsMax } from "#server/services/webhooks/schedule";

/** Retention of event deliveries: how long they are listed and can be replayed. */
const keptDays = 30;
const recoverBatch = 500;
const endBatch = 5_000;
const deleteBatch = 5_000;

/**
 * Periodic maintenance, each part bounded: recovers expired leases, fails pending events of disabled
 * endpoints and deletes old event deliveries. Returns how many leases were recovered.
 */
export async function sweepWebhooks({ hot, log }: Pick<Deps, "hot" | "log">): Promise<number> {
  // The outcome of an attempt whose lease expired is unknown, so the event is sent again, up to the maximum
  // of attempts.
  const { count } = await hot`
    with expired as materialized (
      select id from webhook_deliveries where status = 'attempting' and leased_until < now()
      order by leased_until limit ${recoverBatch} for update skip locked
    )
    update webhook_deliveries d
    set status = case when d.attempts >= ${webhookAttemptsMax} then 'failed' else 'pending' end, due_at = now(),
        lease_token = null, leased_until = null
    from expired where d.id = expired.id`;
  if (count > 0) log.warn("webhook.lease_expired", { count });
  // An endpoint that is enabled again receives no old events.
  await hot`
    with ended as materialized (
      select d.id from webhooks w join webhook_deliveries d on d.webhook_id = w.id
      where w.status = 'disabled' and d.status = 'pending' limit ${endBatch} for update of d skip locked
    )
    update webhook_deliveries d set status = 'failed' from ended where d.id = ended.id`;
  // Only deliveries that ended are deleted, with their attempts, oldest first. Ids start with their creation
  // time.
  await hot`
    with bound as (
      select rpad(lpad(to_hex(floor(extract(epoch from now() - ${keptDays} * interval '1 day') * 1000)::bigint), 12, '0'), 32, '0')
             ::uuid as id
    ), expired as materialized (
      select d.id from webhook_deliveries d where d.id < (select id from bound) and d.status in ('success', 'failed')
      order by d.id limit ${deleteBatch} for update skip locked
    )
    delete from webhook_deliveries d using expired where d.id = expired.id`;
  return count;
}
