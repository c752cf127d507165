import {
  and,
  asc,
  desc,
  eq,
  exists,
  getTableColumns,
  gt,
  gte,
  ilike,
  lt,
  lte,
  type SQL,
  sql,
} from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import { deliveries } from "#db/schema/deliveries";
import { type EmailStatus, emailBodies, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import { relays } from "#db/schema/relays";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";
import { adviceOn, classOfReply } from "#server/mail/outcome";
import { type Page, type PageQuery, pageOf } from "../paging";

export type EmailFilter = {
  status?: EmailStatus;
  /** Exact address of a recipient. */
  recipient?: string;
  /** Exact address of the sender. */
  sender?: string;
  /** Part of the subject, in any letter case. */
  subject?: string;
  tag?: { name: string; value?: string };
  apiKeyId?: string;
  /** The sender's domain. */
  domain?: string;
  since?: Date;
  until?: Date;
};

export type EmailSummary = typeof emails.$inferSelect;
export type Delivery = typeof deliveries.$inferSelect & {
  /** The name of the relay that was last asked; null where `SMTP_URL` led, or it is gone. */
  relay: string | null;
};
export type EmailEvent = typeof emailEvents.$inferSelect;
export type Email = EmailSummary & {
  html: string | null;
  text: string | null;
  keyName: string | null;
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

/** The team's mails, newest first, without bodies. */
export async function listEmails(ctx: Ctx, query: PageQuery & EmailFilter): Promise<Page<EmailSummary>> {
  const wanted = [eq(emails.teamId, ctx.teamId), ...conditionsOf(ctx, query)];
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(emails)
      .where(
        and(
          ...wanted,
          cursor && (cursor.direction === "older" ? lt(emails.id, cursor.id) : gt(emails.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(emails.id) : asc(emails.id))
      .limit(limit),
  );
}

function conditionsOf(ctx: Ctx, filter: EmailFilter): (SQL | undefined)[] {
  const { status, recipient, sender, subject, tag, apiKeyId, domain, since, until } = filter;
  return [
    status && eq(emails.status, status),
    sender && eq(emails.senderAddress, sender),
    subject && ilike(emails.subject, `%${subject.replace(/[\\%_]/g, "\\$&")}%`),
    tag && sql`${emails.tags} @> ${JSON.stringify([tag])}::jsonb`,
    apiKeyId && eq(emails.apiKeyId, apiKeyId),
    domain && eq(emails.senderDomain, domain),
    since && gte(emails.createdAt, since),
    until && lte(emails.createdAt, until),
    recipient &&
      exists(
        ctx.db
          .select({ one: sql`1` })
          .from(deliveries)
          .where(
            and(
              eq(deliveries.teamId, ctx.teamId),
              eq(deliveries.address, recipient),
              eq(deliveries.emailId, emails.id),
            ),
          ),
      ),
  ].filter((condition) => condition !== undefined && condition !== "") as SQL[];
}

/** One mail whole: bodies, recipients with what became of each, and everything that happened, oldest first. */
export async function getEmail(ctx: Ctx, id: string): Promise<Email> {
  if (!isId(id)) throw notFound("Email");
  const [[email], recipients, events] = await Promise.all([
    ctx.db
      .select({ email: emails, html: emailBodies.html, text: emailBodies.text, keyName: apiKeys.name })
      .from(emails)
      .leftJoin(emailBodies, and(eq(emailBodies.teamId, emails.teamId), eq(emailBodies.emailId, emails.id)))
      .leftJoin(apiKeys, and(eq(apiKeys.teamId, emails.teamId), eq(apiKeys.id, emails.apiKeyId)))
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
  const { html, text, keyName } = email;
  return { ...email.email, html, text, keyName, deliveries: recipients, events };
}
