import { sql } from "drizzle-orm";
import { index, integer, pgTable, primaryKey, unique } from "drizzle-orm/pg-core";
import { bytea, instant, now } from "../columns";
import { SYSTEM_MAIL_STATUSES } from "./account";
import { ofTeam } from "./teams";

export const EVENT_TYPES = [
  "email.queued",
  "email.scheduled",
  "email.canceled",
  "email.sent",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.complaint_claimed",
  "email.auto_replied",
  "email.failed",
  "email.suppressed",
  "email.unknown",
  "email.opened",
  "email.clicked",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The details of an event. Times are ISO 8601 in UTC. */
export type EventData = {
  attempt?: number;
  host?: string | null;
  reply?: { code: number | null; enhanced: string | null; text: string } | null;
  reason?: string;
  /** The class of a rejection, see `server/shared/reply-classes.ts`, and advice. */
  class?: string;
  advice?: string;
  /** The rule that determined the class: a built-in row, a code, or `operator:` with the name of a rule. */
  replyRule?: string;
  nextAttemptAt?: string | null;
  rule?: string | null;
  policy?: "retry" | "hold";
  dialogue?: string;
  /**
   * The mailbox provider by its MX host, if the recipient's domain does not show it, or if the domain was
   * erased. For metrics only.
   */
  provider?: string;
  /** The id of the bounce or complaint report, so that a repeated report counts once. */
  report?: string;
  /** Why the recipient was on the suppression list. */
  suppressedBy?: "previous_bounce" | "previous_complaint" | "unsubscribe" | "manual";
  /** The client of an open or click as far as known from its request and, for a click, the target URL. */
  visit?: Visit;
};

/**
 * `proxy` loads content for a reader and hides the reader's address. `prefetch` and `scanner` do not indicate
 * a reader.
 */
export const VISITORS = ["reader", "proxy", "prefetch", "scanner"] as const;

export type Visit = {
  by: (typeof VISITORS)[number];
  /** The program, or why the request counts as automated; null for a reader. */
  name: string | null;
  link?: string;
  /** The client's IP address and user agent. */
  address: string | null;
  agent: string | null;
};

/** Append-only log of the events of an email and its recipients. */
export const emailEvents = pgTable(
  "email_events",
  (c) => ({
    id: c.uuid().notNull(),
    teamId: c.uuid().notNull(),
    emailId: c.uuid().notNull(),
    deliveryId: c.uuid(),
    type: c.text({ enum: EVENT_TYPES }).notNull(),
    recipient: c.text(),
    data: c.jsonb().$type<EventData>().notNull().default({}),
    createdAt: now(),
    /** Increases with the writing transactions. It is the order of the event feed. */
    position: c.bigint({ mode: "number" }).notNull().default(sql`event_position()`),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.emailId, t.id] }),
    index("email_events_feed_idx").on(t.teamId, t.position, t.id),
  ],
);

/**
 * Copies of bounces and replies to a mailbox of the team, which wait to be sent or were. A row stays for some
 * days without its message, so that a message that arrives again is not copied again. A trigger deletes those
 * of a deleted email.
 */
export const returnCopies = pgTable(
  "return_copies",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: ofTeam(),
    emailId: c.uuid().notNull(),
    deliveryId: c.uuid().notNull(),
    kind: c.text().$type<ReturnKind>().notNull(),
    /** A hash that identifies the message. */
    messageHash: c.text().notNull(),
    /** As it arrived, up to the first MB; null once the copy was sent or has failed. */
    message: bytea(),
    /** The mailbox. Whether it may have copies is checked when the copy is sent. */
    recipient: c.text().notNull(),
    status: c.text({ enum: SYSTEM_MAIL_STATUSES }).notNull().default("queued"),
    attempts: c.integer().notNull().default(0),
    /** As of a system email. */
    dueAt: now(),
    leaseToken: c.uuid(),
    expiresAt: instant().notNull(),
    lastReply: c.text(),
    createdAt: now(),
    endedAt: instant(),
  }),
  (t) => [
    unique("return_copies_message_key").on(t.teamId, t.emailId, t.deliveryId, t.messageHash),
    index("return_copies_team_idx").on(t.teamId, t.id),
    index("return_copies_due_idx").on(t.dueAt).where(sql`${t.status} in ('queued', 'sending')`),
  ],
);

/** What a copy is of. */
export type ReturnKind = "bounce" | "reply";

/**
 * Recipients by their current status: each is in at most one of the columns from `sent` to `canceled`, and in
 * none of them while it is in progress.
 */
const recipientSums = () => ({
  received: integer().notNull(),
  /** Accepted by a relay, without a later report. */
  sent: integer().notNull(),
  delivered: integer().notNull(),
  bouncedPermanent: integer().notNull(),
  bouncedTransient: integer().notNull(),
  bouncedUndetermined: integer().notNull(),
  complained: integer().notNull(),
  failed: integer().notNull(),
  unknown: integer().notNull(),
  suppressed: integer().notNull(),
  canceled: integer().notNull(),
  /** Recipients whose delivery was delayed at least once, whatever their status is. */
  delayed: integer().notNull(),
  /** Opens and clicks by readers, the recipients who did, and those who received an email with tracking. */
  opens: integer().notNull(),
  clicks: integer().notNull(),
  openers: integer().notNull(),
  clickers: integer().notNull(),
  opensTracked: integer().notNull(),
  clicksTracked: integer().notNull(),
  /** Recipients who unsubscribed by the link in one of these emails. */
  unsubscribed: integer().notNull(),
});

export type RecipientSums = { [Name in keyof ReturnType<typeof recipientSums>]: number };

/**
 * Recipients of the emails that were accepted in one hour or day (UTC). The rows of the days repeat those of
 * their hours, so that long ranges read few rows. The rows with the tag "" count every recipient once. Other
 * rows repeat those of the emails with one tag, as `name:value`, or with tags that are not counted
 * separately. The emails may already be deleted.
 */
export const recipientCounts = pgTable(
  "recipient_counts",
  (c) => ({
    teamId: c.uuid().notNull(),
    tag: c.text().notNull(),
    unit: c.text({ enum: ["hour", "day"] }).notNull(),
    startsAt: instant().notNull(),
    /** The sender's domain. */
    domain: c.text().notNull(),
    /** Null for emails without a key. */
    apiKeyId: c.uuid(),
    /** The recipient's mailbox provider, of a fixed list. */
    provider: c.text().notNull(),
    ...recipientSums(),
  }),
  (t) => [
    unique("recipient_counts_key")
      .on(t.teamId, t.tag, t.unit, t.startsAt, t.domain, t.apiKeyId, t.provider)
      .nullsNotDistinct(),
  ],
);

/**
 * The sums of `recipient_counts` by one dimension alone, so that what is opened most reads a row for each
 * value instead of one for each combination. The dimension `all` has one value, "", and an email without a
 * key has the key "". The dimension `result` differs: it has the changes of the last two days by domain, in
 * the hour of the event that changed the status, for the rates of the last 24 hours.
 */
export const recipientTotals = pgTable(
  "recipient_totals",
  (c) => ({
    teamId: c.uuid().notNull(),
    dimension: c.text({ enum: ["all", "domain", "key", "provider", "tag", "result"] }).notNull(),
    unit: c.text({ enum: ["hour", "day"] }).notNull(),
    startsAt: instant().notNull(),
    value: c.text().notNull(),
    ...recipientSums(),
  }),
  (t) => [primaryKey({ columns: [t.teamId, t.dimension, t.unit, t.startsAt, t.value] })],
);

/** The last event of a team's feed that is included in `recipient_counts`. */
export const metricsProgress = pgTable("metrics_progress", (c) => ({
  teamId: c.uuid().primaryKey(),
  position: c.bigint({ mode: "number" }).notNull(),
  eventId: c.uuid().notNull(),
}));
