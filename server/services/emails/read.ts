import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import { deliveries } from "#db/schema/deliveries";
import { emailBodies, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import { relays } from "#db/schema/relays";
import { templates } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";
import { adviceOn, classOfReply } from "#server/mail/outcome";

export type EmailSummary = typeof emails.$inferSelect;
export type Delivery = typeof deliveries.$inferSelect & {
  /** The name of the relay that was last asked; null where `SMTP_URL` led, or it is gone. */
  relay: string | null;
};
export type EmailEvent = typeof emailEvents.$inferSelect;
export type Email = EmailSummary & {
  html: string | null;
  text: string | null;
  /** What it said is gone, as the team's retention has it: it can be looked up, and not be sent again. */
  isErased: boolean;
  keyName: string | null;
  /** Null where it was made without a template, or that is gone. */
  templateName: string | null;
  deliveries: Delivery[];
  events: EmailEvent[];
};

/**
 * Where a recipient stands, as both doors tell it: waiting after a try is `deferred`, a state of its own for whoever looks;
 * what its last refusal is about, and what would help. Null where the last reply refused nothing.
 */
export function standingOf({ status, attempts, lastCode, lastEnhanced, lastText }: Omit<Delivery, "relay">) {
  const about =
    lastCode === null ? null : classOfReply({ code: lastCode, enhanced: lastEnhanced, text: lastText ?? "" });
  return {
    status: status === "queued" && attempts > 0 ? ("deferred" as const) : status,
    class: about,
    advice: about && adviceOn(about),
  };
}

/** One mail whole: bodies, recipients with what became of each, and everything that happened, oldest first. */
export async function getEmail(ctx: Ctx, id: string): Promise<Email> {
  if (!isId(id)) throw notFound("Email");
  const [[email], recipients, events] = await Promise.all([
    ctx.db
      .select({
        email: emails,
        html: emailBodies.html,
        text: emailBodies.text,
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
      .select({ ...getTableColumns(deliveries), relay: relays.name })
      .from(deliveries)
      .leftJoin(relays, eq(relays.id, deliveries.relayId))
      .where(and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, id)))
      .orderBy(asc(deliveries.position)),
    ctx.db
      .select()
      .from(emailEvents)
      .where(and(eq(emailEvents.teamId, ctx.teamId), eq(emailEvents.emailId, id)))
      .orderBy(asc(emailEvents.createdAt), asc(emailEvents.id)),
  ]);
  if (!email) throw notFound("Email");
  const { email: mail, ...beside } = email;
  return { ...mail, ...beside, deliveries: recipients, events };
}
