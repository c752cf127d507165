import { and, eq, inArray, lte, sql } from "drizzle-orm";
import { webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx, Deps } from "#server/deps";
import type { WebhookAttemptWire } from "#server/shared/wire/webhook";
import { announce } from "./events/announce";

/** Pending event deliveries are counted up to this number. */
export const waitingCountedMax = 1_000;
/**
 * The last response is searched in this many of the newest event deliveries, and in this many pending ones
 * with the latest due time, beside the one that the endpoint has. A healthy endpoint has attempted its newest
 * ones.
 */
const eventsSearchedMax = 50;

/** Failed event deliveries are counted among this many of the newest. */
export const failedSearchedMax = 1_000;

/** The result of an endpoint's last attempt. */
export type LastResponse = Pick<WebhookAttemptWire, "http_status_code" | "fault" | "sent_at">;

/**
 * The state of the team's endpoints with these ids, by id: pending event deliveries (up to
 * `waitingCountedMax`), failed ones among the newest `failedSearchedMax`, attempts in progress, the last
 * response, and whether the previous secret still signs after a rotation. It costs a few index lookups per
 * endpoint, regardless of backlog.
 */
export async function listEndpointStates(ctx: Ctx, ids: readonly string[]) {
  const rows = await ctx.db
    .select({
      id: webhooks.id,
      waiting: sql<number>`(select count(*)::int from (select from ${webhookDeliveries} d
        where d.webhook_id = webhooks.id and d.status = 'pending' limit ${waitingCountedMax}) counted)`,
      inProgress: sql<number>`(select count(*)::int from ${webhookDeliveries} d
        where d.webhook_id = webhooks.id and d.status = 'attempting')`,
      failed: sql<number>`(select count(*)::int from (select d.status from webhook_deliveries d
        where d.team_id = webhooks.team_id and d.webhook_id = webhooks.id
        order by d.id desc limit ${failedSearchedMax}) newest where newest.status = 'failed')`,
      isPreviousLive: sql<boolean>`coalesce(webhooks.previous_until > now(), false)`,
      lastResponse: sql<LastResponse | null>`(select response from (
        select webhooks.last_response as response, (webhooks.last_response ->> 'sent_at')::timestamptz as sent_at
        union all
        select jsonb_build_object('http_status_code', a.status_code, 'fault', a.fault,
          'sent_at', to_char(a.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), a.sent_at
        from (
          (select d.id from webhook_deliveries d where d.team_id = webhooks.team_id and d.webhook_id = webhooks.id
           order by d.id desc limit ${eventsSearchedMax})
          union
          (select d.id from webhook_deliveries d where d.webhook_id = webhooks.id and d.status = 'pending'
           order by d.due_at desc, d.id desc limit ${eventsSearchedMax})
        ) looked join webhook_attempts a on a.team_id = webhooks.team_id and a.delivery_id = looked.id
      ) as found order by sent_at desc nulls last limit 1)`,
    })
    .from(webhooks)
    .where(and(eq(webhooks.teamId, ctx.teamId), inArray(webhooks.id, [...ids])));
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

/** An endpoint is disabled when every attempt has failed for this many days … */
export const failingDaysMax = 5;
/** … and there were at least this many attempts: one event that failed after its last retry is not enough. */
export const failuresMin = 10;

/**
 * `url` is the URL that was called: if the endpoint's URL has changed since, its response no longer counts.
 */
export type Disabling = { teamId: string; webhookId: string; url: string; reason: "gone" | "failing" };

/**
 * Disables an endpoint: `gone` after a 410 response, `failing` by the rule above, which is checked again
 * here. The same transaction queues `webhook.disabled` for the team's other endpoints. False if nothing
 * changed.
 */
export async function disableWebhook(
  deps: Pick<Deps, "db" | "clock">,
  { teamId, webhookId, url, reason }: Disabling,
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const [disabled] = await tx
      .update(webhooks)
      .set({ status: "disabled", disabledReason: reason })
      .where(
        and(
          eq(webhooks.teamId, teamId),
          eq(webhooks.id, webhookId),
          eq(webhooks.status, "enabled"),
          eq(webhooks.url, url),
          ...(reason === "failing"
            ? [
                lte(webhooks.failingSince, sql`now() - ${failingDaysMax} * interval '1 day'`),
                sql`${webhooks.failures} >= ${failuresMin}`,
              ]
            : []),
        ),
      )
      .returning({
        failingSince: webhooks.failingSince,
        createdAt: webhooks.createdAt,
      });
    if (!disabled) return false;
    await announce({ db: tx, teamId, clock: deps.clock }, "webhook.disabled", {
      id: webhookId,
      endpoint: url,
      status: "disabled",
      disabled_reason: reason,
      failing_since: disabled.failingSince?.toISOString() ?? null,
      created_at: disabled.createdAt.toISOString(),
    });
    return true;
  });
}
