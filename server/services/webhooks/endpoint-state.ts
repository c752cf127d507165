import { and, eq, inArray, sql } from "drizzle-orm";
import { webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import type { WebhookAttemptWire } from "#server/shared/wire/webhook";

/** Pending event deliveries are counted up to this number. */
export const waitingCountedMax = 1_000;
/**
 * The last response is searched in this many of the newest event deliveries, and in this many pending ones
 * with the latest due time.
 */
const eventsSearchedMax = 50;

/** The result of an endpoint's last attempt. */
export type LastResponse = Pick<WebhookAttemptWire, "http_status_code" | "fault" | "sent_at">;

/** The state of an endpoint: pending event deliveries, attempts in progress, and the last response. */
export type EndpointState = {
  /** Pending event deliveries, up to `waitingCountedMax`. */
  waiting: number;
  inProgress: number;
  lastResponse: LastResponse | null;
  /** Whether the previous secret still signs after a rotation. */
  isPreviousLive: boolean;
};

/**
 * The state of the team's endpoints with these ids, by id. It costs a few index lookups per endpoint,
 * regardless of backlog.
 */
export async function readEndpointStates(
  ctx: Ctx,
  ids: readonly string[],
): Promise<Map<string, EndpointState>> {
  if (ids.length === 0) return new Map();
  const rows = await ctx.db
    .select({
      id: webhooks.id,
      waiting: sql<number>`(select count(*)::int from (select from ${webhookDeliveries} d
        where d.webhook_id = webhooks.id and d.status = 'pending' limit ${waitingCountedMax}) counted)`,
      inProgress: sql<number>`(select count(*)::int from ${webhookDeliveries} d
        where d.webhook_id = webhooks.id and d.status = 'attempting')`,
      isPreviousLive: sql<boolean>`coalesce(webhooks.previous_until > now(), false)`,
      lastResponse: sql<LastResponse | null>`(select jsonb_build_object('http_status_code', a.status_code, 'fault', a.fault,
          'sent_at', to_char(a.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        from (
          (select d.id from webhook_deliveries d where d.team_id = webhooks.team_id and d.webhook_id = webhooks.id
           order by d.id desc limit ${eventsSearchedMax})
          union
          (select d.id from webhook_deliveries d where d.webhook_id = webhooks.id and d.status = 'pending'
           order by d.due_at desc, d.id desc limit ${eventsSearchedMax})
        ) looked join webhook_attempts a on a.team_id = webhooks.team_id and a.delivery_id = looked.id
        order by a.sent_at desc limit 1)`,
    })
    .from(webhooks)
    .where(and(eq(webhooks.teamId, ctx.teamId), inArray(webhooks.id, [...ids])));
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}
