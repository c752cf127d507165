import { sql } from "drizzle-orm";
import { boolean, index, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytea, folded, instant, now } from "../columns";

/** Worst first. An email has the status of its worst recipient. */
export const EMAIL_STATUSES = [
  "complained",
  "bounced",
  "failed",
  "unknown",
  "deferred",
  "sending",
  "queued",
  "scheduled",
  "sent",
  "delivered",
  "suppressed",
  "canceled",
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** Engagement of readers, in ascending order. */
export const ENGAGEMENTS = ["opened", "clicked"] as const;
export type Engagement = (typeof ENGAGEMENTS)[number];

/** In sending order within a team. */
export const PRIORITIES = ["high", "normal", "low"] as const;
export type Priority = (typeof PRIORITIES)[number];

export type Tag = { name: string; value: string };
export type Header = { name: string; value: string };

/**
 * The options of an email: fields that are stored as they are sent, and repeated when it is sent again. The
 * API has the same names in snake case, and the same defaults.
 */
const options = () => ({
  tags: jsonb().$type<Tag[]>().notNull().default([]),
  headers: jsonb().$type<Header[]>().notNull().default([]),
  priority: text({ enum: PRIORITIES }).notNull().default("normal"),
  /** Whether each recipient's copy has its own unsubscribe link. */
  listUnsubscribe: boolean().notNull().default(false),
  /** The list that the link unsubscribes from; null: all email with such a link. */
  listName: text(),
});
export const EMAIL_OPTIONS = Object.keys(options()) as (keyof ReturnType<typeof options>)[];

/**
 * One row per submission. `status` is derived from the deliveries and updated with them, so that lists can
 * filter on it. There is no foreign key to the team, because thousands of inserts per second would lock its
 * single row. A trigger deletes the deliveries, events, contents and files of a deleted email. What inserts
 * them later locks the email first.
 */
export const emails = pgTable(
  "emails",
  (c) => ({
    id: c.uuid().notNull(),
    teamId: c.uuid().notNull(),
    apiKeyId: c.uuid(),
    /** As in the From header. */
    sender: c.text().notNull(),
    senderAddress: c.text().notNull(),
    senderDomain: c.text().notNull(),
    to: c.jsonb().$type<string[]>().notNull(),
    cc: c.jsonb().$type<string[]>().notNull().default([]),
    bcc: c.jsonb().$type<string[]>().notNull().default([]),
    replyTo: c.jsonb().$type<string[]>().notNull().default([]),
    subject: c.text().notNull(),
    ...options(),
    /**
     * The tracking settings of the sender's domain at acceptance. They affect the bytes of the email, so they
     * never change.
     */
    tracksOpens: c.boolean().notNull().default(false),
    tracksClicks: c.boolean().notNull().default(false),
    /** The host of tracked links; null: that of the installation. */
    trackingHost: c.text(),
    templateId: c.uuid(),
    templateVersionId: c.uuid(),
    /** Message-ID without angle brackets. The same in each attempt. */
    messageId: c.text().notNull(),
    scheduledAt: instant(),
    /**
     * The `traceparent` (W3C Trace Context) of the request, which the attempts continue; null while traces
     * are off.
     */
    traceparent: c.text(),
    status: c.text({ enum: EMAIL_STATUSES }).notNull(),
    /**
     * The highest engagement of any recipient; null if no open or click is known. Independent of the status.
     */
    engagement: c.text().$type<Engagement>(),
    createdAt: now(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    index("emails_team_status_idx").on(t.teamId, t.status, t.id),
    // For the last use of a template. Emails without a template are not in this index.
    index("emails_team_template_idx")
      .on(t.teamId, t.templateId, t.id)
      .where(sql`${t.templateId} is not null`),
    // The team is second, because a plan that was made with empty tables would otherwise use it for ids.
    index("emails_sender_idx").on(folded(t.senderAddress), t.teamId, t.id),
  ],
);

/**
 * The content of an email, stored separately so that lists and counts do not read it. `text` is "" if the
 * caller requested no text part, and null if it is rendered from `html`. `madeText` stores a rendered text
 * that took long to render, so that all attempts send the same one.
 */
export const emailBodies = pgTable(
  "email_bodies",
  (c) => ({
    teamId: c.uuid().notNull(),
    emailId: c.uuid().notNull(),
    html: c.text(),
    text: c.text(),
    madeText: c.text(),
    /**
     * The message as a program submitted it over SMTP. It is sent in these bytes, and `html` and `text` only
     * display it. Null: the message is composed from the columns.
     */
    raw: bytea(),
    /**
     * The `Idempotency-Key` of the request; for a batch, each email has the same. Stored with the content,
     * because a program can put an address or a name into it: retention and erasure delete both together.
     * Null without a key, and for release 0.2.0.
     */
    idempotencyKey: c.text(),
    /**
     * The email whose content this one repeats, and the last one that repeats this content. The references
     * end with the content.
     */
    sentAgainOf: c.uuid(),
    sentAgainAs: c.uuid(),
  }),
  (t) => [primaryKey({ columns: [t.teamId, t.emailId] })],
);

/**
 * Emails stored by the `capture:` transport instead of being sent: the bytes of the message as they would be
 * sent.
 */
export const capturedMessages = pgTable(
  "captured_messages",
  (c) => ({
    teamId: c.uuid().notNull(),
    emailId: c.uuid().notNull(),
    raw: bytea().notNull(),
    capturedAt: now(),
  }),
  (t) => [primaryKey({ columns: [t.teamId, t.emailId] })],
);

/** A file of an email. Stored separately, so that only delivery and download read the bytes. */
export const attachments = pgTable(
  "attachments",
  (c) => ({
    teamId: c.uuid().notNull(),
    id: c.uuid().notNull(),
    emailId: c.uuid().notNull(),
    position: c.smallint().notNull(),
    filename: c.text(),
    contentType: c.text().notNull(),
    /**
     * Content-ID without angle brackets. If set, the part is inline and the HTML can refer to it as `cid:`.
     */
    contentId: c.text(),
    sizeBytes: c.integer().notNull(),
    content: bytea().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.teamId, t.emailId, t.id] })],
);

/**
 * The response to a request with an `Idempotency-Key`, written by the statement that accepts the email, so a
 * crash leaves no row. While that statement runs, a second request with the key writes nothing and is tried
 * again (`held` in `services/emails/accept/insert-submissions.ts`); afterwards it gets this response.
 */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  (c) => ({
    teamId: c.uuid().notNull(),
    route: c.text().notNull(),
    key: c.text().notNull(),
    /** SHA-256 of the canonical form of the parsed body. */
    fingerprint: bytea().notNull(),
    status: c.integer().notNull(),
    answer: c.jsonb().notNull(),
    expiresAt: instant().notNull().default(sql`now() + interval '24 hours'`),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.route, t.key] }),
    index("idempotency_keys_expiry_idx").on(t.expiresAt),
  ],
);
