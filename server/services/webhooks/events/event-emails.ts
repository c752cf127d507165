import { and, eq, inArray } from "drizzle-orm";
import { type EmailStatus, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import type { WebhookDelivery } from "#server/shared/wire/webhook";

/**
 * What identifies the email of an event: the recipient of the event, or of the email if the event concerns
 * all of them.
 */
export type EventEmail = { id: string; recipient: string | null; subject: string; status: EmailStatus };

/**
 * The emails of some event deliveries, by id of the delivery: two queries for a page. Deliveries without an
 * email are missing, and so are those whose email is no longer retained. Erased texts are as the erasure left
 * them.
 */
export async function listEventEmails(
  ctx: Ctx,
  deliveries: readonly WebhookDelivery[],
): Promise<Map<string, EventEmail>> {
  const emailIds = [...new Set(deliveries.flatMap(({ emailId }) => emailId ?? []))];
  if (emailIds.length === 0) return new Map();
  const eventIds = deliveries.flatMap(({ eventId }) => eventId ?? []);
  const found = await ctx.db
    .select({ id: emails.id, to: emails.to, subject: emails.subject, status: emails.status })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), inArray(emails.id, emailIds)));
  const events = await ctx.db
    .select({ id: emailEvents.id, recipient: emailEvents.recipient })
    .from(emailEvents)
    .where(
      and(
        eq(emailEvents.teamId, ctx.teamId),
        inArray(emailEvents.emailId, emailIds),
        inArray(emailEvents.id, eventIds),
      ),
    );
  const emailOf = new Map(found.map((email) => [email.id, email]));
  const recipientOf = new Map(events.map(({ id, recipient }) => [id, recipient]));
  return new Map(
    deliveries.flatMap(({ id, emailId, eventId }) => {
      const email = emailOf.get(emailId ?? "");
      if (!email) return [];
      const recipient = recipientOf.get(eventId ?? "") ?? email.to[0] ?? null;
      return [[id, { id: email.id, recipient, subject: email.subject, status: email.status }]];
    }),
  );
}
