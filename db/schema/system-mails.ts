import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";

export const SYSTEM_MAIL_KINDS = ["sign_in_link", "password_reset", "invitation"] as const;
export type SystemMailKind = (typeof SYSTEM_MAIL_KINDS)[number];

/** `dropped`: not sent, because no user has that address. */
export const SYSTEM_MAIL_STATUSES = ["queued", "sending", "sent", "failed", "dropped"] as const;

/**
 * System emails, such as sign-in links. They are not in `emails`, because they belong to no team and do not appear in lists,
 * events or webhooks. Only `details` of the content is stored, encrypted, until the email is sent or has failed.
 */
export const systemMails = pgTable(
  "system_mails",
  {
    id: uuid().primaryKey(),
    kind: text({ enum: SYSTEM_MAIL_KINDS }).notNull(),
    /** In lower case. Whether a user has that address is checked when the email is sent. */
    recipient: text().notNull(),
    /** The data of its text, encrypted; null once it is no longer needed. */
    details: text(),
    status: text({ enum: SYSTEM_MAIL_STATUSES }).notNull().default("queued"),
    attempts: integer().notNull().default(0),
    /** When the lease of the sending worker expires and another worker may claim the email. */
    dueAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    leaseToken: uuid(),
    /** After this time the email is no longer useful and is not sent. */
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    /** The last server reply or error. */
    lastReply: text(),
    messageId: text().notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    endedAt: timestamp({ withTimezone: true }),
  },
  (t) => [
    index("system_mails_due_idx").on(t.dueAt).where(sql`${t.status} in ('queued', 'sending')`),
    index("system_mails_recipient_idx").on(t.recipient),
  ],
);
