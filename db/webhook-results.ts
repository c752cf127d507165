import type { HotSql } from "./client";

/** What a call of an endpoint came to. */
export type WebhookResult = {
  id: string;
  leaseToken: string;
  status: "pending" | "success" | "failed";
  /** From now until the next attempt; null where there is none. */
  retryAfterMs: number | null;
  /** For how long the endpoint as a whole is not called; null where it asked for nothing. */
  pauseMs: number | null;
  /** Null where no call was made: then there is no attempt to keep, and it says nothing about the endpoint. */
  attempt: {
    id: string;
    url: string;
    headers: Record<string, string>;
    statusCode: number | null;
    response: string | null;
    fault: string | null;
    durationMs: number;
  } | null;
};

export type RecordedWebhook = { id: string; webhookId: string; teamId: string; isFailingForLong: boolean };

/** From when on, and after how many attempts, a run of failures counts as long. */
export type LongFailure = { days: number; failures: number };

/**
 * Records results, many in one statement: the rows, the attempts, and how their endpoints fare. A result is written only
 * where the lease is still the worker's own; tells which were.
 */
export async function recordWebhookResults(
  hot: HotSql,
  results: readonly WebhookResult[],
  long: LongFailure,
): Promise<Map<string, RecordedWebhook>> {
  const attempts = results.map(({ attempt }) => attempt);
  const rows = await hot.unsafe<RecordedWebhook[]>(
    RECORD,
    [
      results.map(({ id }) => id),
      results.map(({ leaseToken }) => leaseToken),
      results.map(({ status }) => status),
      results.map(({ retryAfterMs }) => retryAfterMs),
      results.map(({ pauseMs }) => pauseMs),
      attempts.map((attempt) => attempt?.id ?? null),
      attempts.map((attempt) => attempt?.url ?? null),
      attempts.map((attempt) => (attempt ? JSON.stringify(attempt.headers) : null)),
      attempts.map((attempt) => attempt?.statusCode ?? null),
      attempts.map((attempt) => attempt?.response ?? null),
      attempts.map((attempt) => attempt?.fault ?? null),
      attempts.map((attempt) => attempt?.durationMs ?? null),
      long.days,
      long.failures,
    ],
    { prepare: hot.options.prepare },
  );
  return new Map(rows.map((row) => [row.id, row]));
}

// Endpoints that fare well stay untouched, so that a busy one is no row that everybody writes. A URL that was changed since
// the call has nothing to answer for.
const RECORD = `
with result as (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $5::float8[], $6::uuid[], $7::text[], $8::text[],
    $9::int[], $10::text[], $11::text[], $12::int[])
    as r(id, lease_token, status, retry_after_ms, pause_ms, attempt_id, url, headers, status_code, response, fault,
         duration_ms)
), written as (
  update webhook_deliveries d
  set status = r.status, lease_token = null, leased_until = null,
      due_at = case when r.retry_after_ms is null then d.due_at else now() + r.retry_after_ms * interval '1 ms' end
  from result r
  where d.id = r.id and d.lease_token = r.lease_token and d.status = 'attempting'
  returning d.id, d.team_id, d.webhook_id, d.due_at, r.status, r.retry_after_ms, r.pause_ms, r.attempt_id, r.url,
    r.headers, r.status_code, r.response, r.fault, r.duration_ms
), attempt as (
  insert into webhook_attempts (team_id, delivery_id, id, number, url, headers, status_code, response, fault, duration_ms,
    sent_at, next_attempt_at)
  select team_id, id, attempt_id,
    (select count(*) from webhook_attempts a where a.team_id = written.team_id and a.delivery_id = written.id) + 1,
    url, headers::jsonb, status_code, response, fault, duration_ms, now() - duration_ms * interval '1 ms',
    case when retry_after_ms is not null then due_at end
  from written where attempt_id is not null
), health as (
  select webhook_id, url, bool_or(status = 'success') as is_well, count(*) filter (where status <> 'success')::int as failed,
    max(pause_ms) as pause_ms
  from written where attempt_id is not null group by webhook_id, url
), endpoint as (
  update webhooks w
  set failing_since = case when h.is_well then null else coalesce(w.failing_since, now()) end,
      failures = case when h.is_well then 0 else w.failures + h.failed end,
      paused_until = case when h.pause_ms is not null then now() + h.pause_ms * interval '1 ms'
                          when h.is_well then null else w.paused_until end
  from health h
  where w.id = h.webhook_id and w.url = h.url
    and (h.failed > 0 or w.failing_since is not null or w.paused_until is not null)
  returning w.id, w.status = 'enabled' and w.failing_since <= now() - $13 * interval '1 day' and w.failures >= $14 as is_long
)
select written.id, written.webhook_id as "webhookId", written.team_id as "teamId",
  coalesce(endpoint.is_long, false) as "isFailingForLong"
from written left join endpoint on endpoint.id = written.webhook_id`;
