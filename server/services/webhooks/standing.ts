import { and, eq, inArray, sql } from "drizzle-orm";
import { webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";

/** More waiting events than these are not counted. */
export const waitingCountedMax = 1_000;
/** Among so many of the newest events, and of those that are tried again last, the last answer is looked for. */
const eventsLookedAtMax = 50;

/** What an endpoint's last call came to. */
export type LastAnswer = {
  deliveryId: string;
  statusCode: number | null;
  fault: string | null;
  durationMs: number;
  sentAt: string;
};

/** How an endpoint fares: what waits for it, what is under way, and what it answered last. */
export type Standing = {
  /** Up to `waitingCountedMax`. */
  waiting: number;
  underWay: number;
  lastAnswer: LastAnswer | null;
  /** The secret before a rotation still signs. */
  isPreviousLive: boolean;
};

/** How the team's endpoints with these ids fare, by id. Each is a few look-ups, however much waits. */
export async function readStandings(ctx: Ctx, ids: readonly string[]): Promise<Map<string, Standing>> {
  if (ids.length === 0) return new Map();
  const rows = await ctx.db
    .select({
      id: webhooks.id,
      waiting: sql<number>`(select count(*)::int from (select from ${webhookDeliveries} d
        where d.webhook_id = webhooks.id and d.status = 'pending' limit ${waitingCountedMax}) counted)`,
      underWay: sql<number>`(select count(*)::int from ${webhookDeliveries} d
        where d.webhook_id = webhooks.id and d.status = 'attempting')`,
      isPreviousLive: sql<boolean>`coalesce(webhooks.previous_until > now(), false)`,
      lastAnswer: sql<LastAnswer | null>`(select jsonb_build_object('deliveryId', a.delivery_id,
          'statusCode', a.status_code, 'fault', a.fault, 'durationMs', a.duration_ms,
          'sentAt', to_char(a.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        from (
          (select d.id from webhook_deliveries d where d.team_id = webhooks.team_id and d.webhook_id = webhooks.id
           order by d.id desc limit ${eventsLookedAtMax})
          union
          (select d.id from webhook_deliveries d where d.webhook_id = webhooks.id and d.status = 'pending'
           order by d.due_at desc, d.id desc limit ${eventsLookedAtMax})
        ) looked join webhook_attempts a on a.team_id = webhooks.team_id and a.delivery_id = looked.id
        order by a.sent_at desc limit 1)`,
    })
    .from(webhooks)
    .where(and(eq(webhooks.teamId, ctx.teamId), inArray(webhooks.id, [...ids])));
  return new Map(rows.map(({ id, ...standing }) => [id, standing]));
}
