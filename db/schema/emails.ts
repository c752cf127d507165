import { sql } from "drizzle-orm";
import {
  boolean,
  foreignKey,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea } from "../columns";

/** Worst first: a mail has the status of its worst recipient. */
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

/** First to last, within a team. */
export const PRIORITIES = ["high", "normal", "low"] as const;
export type Priority = (typeof PRIORITIES)[number];

export type Tag = { name: string; value: string };
export type Header = { name: string; value: string };

/**
 * One row per submission. `status` repeats what the deliveries say, written with them, so that lists can filter on it.
 * No foreign key to the team: thousands of inserts a second would all lock its one row.
 */
export const emails = pgTable(
  "emails",
  {
    id: uuid().notNull(),
    teamId: uuid().notNull(),
    apiKeyId: uuid(),
    /** As it stands in the From header. */
    sender: text().notNull(),
    senderAddress: text().notNull(),
    senderDomain: text().notNull(),
    to: jsonb().$type<string[]>().notNull(),
    cc: jsonb().$type<string[]>().notNull().default([]),
    bcc: jsonb().$type<string[]>().notNull().default([]),
    replyTo: jsonb().$type<string[]>().notNull().default([]),
    subject: text().notNull(),
    tags: jsonb().$type<Tag[]>().notNull().default([]),
    headers: jsonb().$type<Header[]>().notNull().default([]),
    priority: text({ enum: PRIORITIES }).notNull().default("normal"),
    /** Each recipient's copy offers to unsubscribe by a link of their own. */
    listUnsubscribe: boolean().notNull().default(false),
    /** What the sender's domain asked for when the mail was accepted: it decides bytes, so it never changes afterwards. */
    tracksOpens: boolean().notNull().default(false),
    tracksClicks: boolean().notNull().default(false),
    templateId: uuid(),
    templateVersionId: uuid(),
    /** Without angle brackets; derived once, the same in every attempt. */
    messageId: text().notNull(),
    scheduledAt: timestamp({ withTimezone: true }),
    status: text({ enum: EMAIL_STATUSES }).notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    index("emails_team_status_idx").on(t.teamId, t.status, t.id),
    // When a template was last used, and by whom. Mail that says itself what it says stands in no such index.
    index("emails_team_template_idx")
      .on(t.teamId, t.templateId, t.id)
      .where(sql`${t.templateId} is not null`),
    index("emails_tags_idx").using("gin", t.tags.op("jsonb_path_ops")),
  ],
);

/** The heavy part of a mail, apart so that lists and counts never touch it. `text` is "" where the caller wanted none. */
export const emailBodies = pgTable(
  "email_bodies",
  {
    teamId: uuid().notNull(),
    emailId: uuid().notNull(),
    html: text(),
    text: text(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.emailId] }),
    foreignKey({ columns: [t.teamId, t.emailId], foreignColumns: [emails.teamId, emails.id] }).onDelete(
      "cascade",
    ),
  ],
);

/** What the `capture:` transport kept instead of sending it: the bytes as they would have gone over the wire. */
export const capturedMessages = pgTable(
  "captured_messages",
  {
    teamId: uuid().notNull(),
    emailId: uuid().notNull(),
    raw: bytea().notNull(),
    capturedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.emailId] }),
    foreignKey({ columns: [t.teamId, t.emailId], foreignColumns: [emails.teamId, emails.id] }).onDelete(
      "cascade",
    ),
  ],
);
