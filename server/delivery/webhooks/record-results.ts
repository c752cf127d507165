import type { HotSql } from "#db/client";
import { type Columns, writeStatement } from "#db/statement";
import { failingDaysMax, failuresMin } from "#server/services/webhooks/endpoint-state";
import type { WebhookAttempt } from "#server/shared/wire/webhook";
import type { Recovery } from "./recovery";

/** Result of an attempt to deliver an event. */
export type WebhookResult = {
  id: string;
  leaseToken: string;
  status: "pending" | "success" | "failed";
  /** From now until the next attempt; null if there is none. */
  retryAfterMs: number | null;
  /** Pause for all events of the endpoint; null without one. */
  pauseMs: number | null;
  /** The endpoint no longer exists (410). */
  isGone?: boolean;
  /** Null if no request was sent. Then no attempt is recorded, and the endpoint's health does not change. */
  attempt: Pick<
    WebhookAttempt,
    "id" | "url" | "headers" | "statusCode" | "response" | "fault" | "durationMs"
  > | null;
};

/** `recovery` is set for one result of an endpoint that succeeded after failures. */
export type RecordedWebhook = { isFailingForLong: boolean; recovery: Recovery | null };

/** `concernsHealth`: the endpoint fails or recovers. Then `url` is that of the attempt. */
type Written = { id: string; webhookId: string; url: string; concernsHealth: boolean };

/**
 * Records results in one statement: event deliveries and attempts. Then updates the health of each endpoint
 * that fails or recovers. A result is written only if its lease token is still current. Returns the written
 * event deliveries by id. `onHealthError` receives errors of health updates; the next failure updates the
 * health again.
 */
export async function recordWebhookResults(
  hot: HotSql,
  results: readonly WebhookResult[],
  onHealthError: (error: unknown) => void,
): Promise<Map<string, RecordedWebhook>> {
  const rows = await writeResults(hot, { results });
  const failingForLong = new Set<string>();
  const recoveries = new Map<string, Recovery>();
  const concerned = rows.filter(({ concernsHealth }) => concernsHealth);
  // Results of a previous URL must not change the health of the current one.
  for (const [key, { webhookId, url }] of new Map(concerned.map((row) => [endpointOf(row), row]))) {
    const ids = new Set(concerned.filter((row) => endpointOf(row) === key).map(({ id }) => id));
    const ofEndpoint = results.filter(({ id }) => ids.has(id));
    const health = await recordEndpointHealth(hot, webhookId, url, ofEndpoint).catch(onHealthError);
    if (health?.isLong) failingForLong.add(webhookId);
    const [first] = ids;
    if (health && health.recoveredAfter !== null && first !== undefined)
      recoveries.set(first, { webhookId, url, failedSeconds: health.recoveredAfter });
  }
  return new Map(
    rows.map(({ id, webhookId }) => [
      id,
      { isFailingForLong: failingForLong.has(webhookId), recovery: recoveries.get(id) ?? null },
    ]),
  );
}

const endpointOf = ({ webhookId, url }: Written) => `${webhookId} ${url}`;

/**
 * Updates the health of one endpoint. A separate statement, which waits for the endpoint's lock without
 * holding another: deleting an endpoint locks it and then waits for its event deliveries. Returns whether the
 * endpoint has a long run of failures, and the seconds that a run lasted which has just ended.
 */
async function recordEndpointHealth(
  hot: HotSql,
  webhookId: string,
  url: string,
  results: readonly WebhookResult[],
): Promise<{ isLong: boolean; recoveredAfter: number | null } | undefined> {
  const hasSuccess = results.some(({ status }) => status === "success");
  const failed = results.filter(({ status }) => status !== "success").length;
  const ending = results.filter(({ attempt, status }) => attempt && (!hasSuccess || status === "success"));
  const last = ending.at(-1)?.attempt;
  const pauses = results.flatMap(({ pauseMs }) => pauseMs ?? []);
  const pauseMs = pauses.length > 0 ? Math.max(...pauses) : null;
  const [row] = await hot<{ isLong: boolean; recoveredAfter: number | null }[]>`
    with before as (
      select id, failing_since from webhooks where id = ${webhookId} and url = ${url} for no key update
    )
    update webhooks w
    set failing_since = case when ${hasSuccess} then null else coalesce(w.failing_since, now()) end,
        last_response = jsonb_build_object('http_status_code', ${last?.statusCode ?? null}::int,
          'fault', ${last?.fault ?? null}::text, 'sent_at', to_char(
            (now() - ${last?.durationMs ?? 0}::float8 * interval '1 ms') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
        failures = case when ${hasSuccess} then 0 else w.failures + ${failed} end,
        paused_until = case when ${pauseMs}::float8 is not null then now() + ${pauseMs}::float8 * interval '1 ms'
                            when ${hasSuccess} then null else w.paused_until end
    from before where w.id = before.id
    returning w.status = 'enabled' and w.failing_since <= now() - ${failingDaysMax} * interval '1 day'
      and w.failures >= ${failuresMin} as "isLong",
      case when ${hasSuccess} and ${pauseMs}::float8 is null
        then extract(epoch from now() - before.failing_since)::float8 end as "recoveredAfter"`;
  return row;
}

const RESULT: Columns<WebhookResult> = {
  id: ["uuid", ({ id }) => id],
  lease_token: ["uuid", ({ leaseToken }) => leaseToken],
  status: ["text", ({ status }) => status],
  retry_after_ms: ["float8", ({ retryAfterMs }) => retryAfterMs],
  attempt_id: ["uuid", ({ attempt }) => attempt?.id],
  url: ["text", ({ attempt }) => attempt?.url],
  headers: ["jsonb", ({ attempt }) => attempt?.headers],
  status_code: ["int", ({ attempt }) => attempt?.statusCode],
  response: ["text", ({ attempt }) => attempt?.response],
  fault: ["text", ({ attempt }) => attempt?.fault],
  duration_ms: ["int", ({ attempt }) => attempt?.durationMs],
};

// Healthy endpoints are not updated, because a busy endpoint's row would be contended.
const writeResults = writeStatement<{ results: readonly WebhookResult[] }, Written>(
  ({ rows }) => `
with result as (
  select * from ${rows("results", RESULT)} as r
), locked as materialized (
  select d.id from webhook_deliveries d join result r on r.id = d.id and r.lease_token = d.lease_token
  order by d.id for no key update of d
), written as (
  update webhook_deliveries d
  set status = r.status, lease_token = null, leased_until = null,
      due_at = case when r.retry_after_ms is null then d.due_at else now() + r.retry_after_ms * interval '1 ms' end
  from result r join locked on locked.id = r.id
  where d.id = r.id
  returning d.id, d.team_id, d.webhook_id, d.due_at, r.status, r.retry_after_ms, r.attempt_id, r.url,
    r.headers, r.status_code, r.response, r.fault, r.duration_ms
), attempt as (
  insert into webhook_attempts (team_id, delivery_id, id, number, url, headers, status_code, response, fault, duration_ms,
    sent_at, next_attempt_at)
  select team_id, id, attempt_id,
    (select count(*) from webhook_attempts a where a.team_id = written.team_id and a.delivery_id = written.id) + 1,
    url, headers, status_code, response, fault, duration_ms, now() - duration_ms * interval '1 ms',
    case when retry_after_ms is not null then due_at end
  from written where attempt_id is not null
)
select written.id, written.webhook_id as "webhookId", written.url,
  written.attempt_id is not null and (written.status <> 'success' or w.failing_since is not null or w.paused_until is not null)
    as "concernsHealth"
from written join webhooks w on w.id = written.webhook_id`,
);
