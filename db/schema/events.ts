import { sql } from "drizzle-orm";
import {
  bigint,
  foreignKey,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { emails } from "./emails";

export const EVENT_TYPES = [
  "email.queued",
  "email.scheduled",
  "email.canceled",
  "email.sent",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.suppressed",
  "email.unknown",
  "email.opened",
  "email.clicked",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What an attempt or a decision left behind. Times are ISO 8601 in UTC. */
export type EventData = {
  attempt?: number;
  host?: string | null;
  reply?: { code: number | null; enhanced: string | null; text: string } | null;
  reason?: string;
  /** What a refusal is about, as `server/mail/replies/classes.ts` names it, and what would help. */
  class?: string;
  advice?: string;
  nextAttemptAt?: string | null;
  rule?: string | null;
  policy?: "retry" | "hold";
  dialogue?: string;
  /** Which report it was that came back, so that the same one counts once. */
  report?: string;
  /** Why the recipient was on the suppression list when it was set aside. */
  suppressedBy?: "previous_bounce" | "previous_complaint" | "manual";
  /** Who fetched a picture or followed a link, as far as the request tells, and for a click where the link leads. */
  visit?: Visit;
};

/** `proxy` is on behalf of a reader whom it hides; `prefetch` and `scanner` say nothing of anybody having read. */
export const VISITORS = ["reader", "proxy", "prefetch", "scanner"] as const;

export type Visit = {
  by: (typeof VISITORS)[number];
  /** The program, or the reason why it is taken for one; null for a reader. */
  name: string | null;
  link?: string;
  /** The IP address that it came from, and what it called itself. */
  address: string | null;
  agent: string | null;
};

/** Append-only: what happened to a mail, and to which of its recipients. */
export const emailEvents = pgTable(
  "email_events",
  {
    id: uuid().notNull(),
    teamId: uuid().notNull(),
    emailId: uuid().notNull(),
    deliveryId: uuid(),
    type: text({ enum: EVENT_TYPES }).notNull(),
    recipient: text(),
    data: jsonb().$type<EventData>().notNull().default({}),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** Grows with the transactions that write: the order in which the feed tells events. */
    position: bigint({ mode: "number" }).notNull().default(sql`event_position()`),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.emailId, t.id] }),
    index("email_events_feed_idx").on(t.teamId, t.position, t.id),
    foreignKey({ columns: [t.teamId, t.emailId], foreignColumns: [emails.teamId, emails.id] }).onDelete(
      "cascade",
    ),
  ],
);
