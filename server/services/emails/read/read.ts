import { and, asc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import {
  type DeliveryStage,
  type DeliveryStatus,
  deliveries,
  queue,
  type WaitRule,
} from "#db/schema/deliveries";
import { emailBodies, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import { relays } from "#db/schema/relays";
import { templates } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { getAdvice, getReplyClass } from "#server/mail/outcome";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { REPLY_CLASSES } from "#server/shared/reply-classes";
import type { Email, EmailEvent } from "#server/shared/wire/email";
import { findPause, listActivePauses } from "../../pauses/read";

/** One email with its bodies, the state of each recipient, and all events, oldest first. */
export async function getEmail(ctx: Ctx, id: string): Promise<Email> {
  if (!isId(id)) throw notFound("Email");
  const [[email], recipients, events, pauses] = await Promise.all([
    ctx.db
      .select({
        email: emails,
        html: emailBodies.html,
        text: emailBodies.text,
        idempotencyKey: emailBodies.idempotencyKey,
        sentAgainOf: emailBodies.sentAgainOf,
        sentAgainAs: emailBodies.sentAgainAs,
        isSubmitted: sql<boolean>`${emailBodies.raw} is not null`,
        isErased: sql<boolean>`${emailBodies.emailId} is null`,
        keyName: apiKeys.name,
        templateName: templates.name,
      })
      .from(emails)
      .leftJoin(emailBodies, and(eq(emailBodies.teamId, emails.teamId), eq(emailBodies.emailId, emails.id)))
      .leftJoin(apiKeys, and(eq(apiKeys.teamId, emails.teamId), eq(apiKeys.id, emails.apiKeyId)))
      .leftJoin(templates, and(eq(templates.teamId, emails.teamId), eq(templates.id, emails.templateId)))
      .where(and(eq(emails.teamId, ctx.teamId), eq(emails.id, id))),
    ctx.db
      .select({
        ...getTableColumns(deliveries),
        status: sql<DeliveryStatus>`case when ${queue.leaseToken} is null then ${deliveries.status} else 'sending' end`,
        stage: sql<DeliveryStage>`coalesce(${queue.stage}, 'idle')`,
        attempts: sql<number>`case when ${queue.leaseToken} is null then ${deliveries.attempts} else ${queue.attempts} end`,
        waitRule: sql<WaitRule | null>`case when ${queue.leaseToken} is null then ${deliveries.waitRule} end`,
        relay: relays.name,
        isDue: sql<boolean>`${deliveries.status} = 'scheduled' and ${deliveries.dueAt} <= now()`,
      })
      .from(deliveries)
      .leftJoin(queue, eq(queue.id, deliveries.id))
      .leftJoin(relays, eq(relays.id, deliveries.relayId))
      .where(and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, id)))
      .orderBy(asc(deliveries.position)),
    ctx.db
      .select()
      .from(emailEvents)
      .where(and(eq(emailEvents.teamId, ctx.teamId), eq(emailEvents.emailId, id)))
      .orderBy(asc(emailEvents.createdAt), asc(emailEvents.id)),
    listActivePauses(ctx.hot, [ctx.teamId]),
  ]);
  if (!email) throw notFound("Email");
  const { email: summary, ...rest } = email;
  const found = findPause(pauses, { teamId: ctx.teamId, senderDomain: summary.senderDomain });
  const pause = found && { rule: found.rule, reason: found.reason };
  return {
    ...summary,
    ...rest,
    // A scheduled delivery keeps its schedule, and waits for the pause only after its time.
    deliveries: recipients.map(({ isDue, ...delivery }) => ({
      ...describeDelivery(delivery, events),
      pause: isDue || delivery.status === "queued" ? pause : null,
    })),
    events,
  };
}

/** How many recipients of these emails are suppressed; without the emails of which none is. */
export async function countSuppressed(ctx: Ctx, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const { teamId, emailId, status } = deliveries;
  const rows = await ctx.db
    .select({ emailId, count: sql<number>`count(*)::int` })
    .from(deliveries)
    .where(and(eq(teamId, ctx.teamId), inArray(emailId, [...ids]), eq(status, "suppressed")))
    .groupBy(emailId);
  return new Map(rows.map((row) => [row.emailId, row.count]));
}

/** The class of the last reply is that of its event, which a rule of the operator can have determined. */
function describeDelivery<D extends typeof deliveries.$inferSelect>(
  delivery: D,
  events: readonly EmailEvent[],
) {
  const { id, status, attempts, lastCode, lastEnhanced, lastText } = delivery;
  const recorded = events.findLast(({ deliveryId, data }) => deliveryId === id && data.class !== undefined);
  const ofEvent = REPLY_CLASSES.find((each) => each === recorded?.data.class) ?? null;
  // A bounce report need not have a basic code. Its event has the class then.
  const isReported = status === "bounced" && (lastEnhanced !== null || !!lastText);
  const replyClass =
    lastCode === null
      ? isReported
        ? ofEvent
        : null
      : (ofEvent ?? getReplyClass({ code: lastCode, enhanced: lastEnhanced, text: lastText ?? "" }));
  return {
    ...delivery,
    displayStatus: status === "queued" && attempts > 0 ? ("deferred" as const) : status,
    replyClass,
    advice: replyClass && getAdvice(replyClass),
  };
}
