import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";

export const SYSTEM_MAIL_KINDS = ["sign_in_link", "password_reset", "invitation"] as const;
export type SystemMailKind = (typeof SYSTEM_MAIL_KINDS)[number];

/** `dropped`: nothing was sent, because nobody here has that address. */
export const SYSTEM_MAIL_STATUSES = ["queued", "sending", "sent", "failed", "dropped"] as const;

/**
 * Posthorn's own mail. It is no row of `emails`: it belongs to no team, and no list, event or webhook knows of it. Of what it
 * says only `details` is kept, sealed, and no longer than until it is handed over or given up.
 */
export const systemMails = pgTable(
  "system_mails",
  {
    id: uuid().primaryKey(),
    kind: text({ enum: SYSTEM_MAIL_KINDS }).notNull(),
    /** In lower case. Whether anybody here has that address is found out when it is sent. */
    recipient: text().notNull(),
    /** What its text is made of, encrypted; null once it is not needed any more. */
    details: text(),
    status: text({ enum: SYSTEM_MAIL_STATUSES }).notNull().default("queued"),
    attempts: integer().notNull().default(0),
    /** Of one that is being sent: when its lease ends, and another worker may take it. */
    dueAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    leaseToken: uuid(),
    /** From then on nobody waits for it any more. */
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    /** The last server's reply, or what went wrong. */
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
