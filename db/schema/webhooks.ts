import { sql } from "drizzle-orm";
import {
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import type { SuppressionRow } from "./suppressions";
import { teams } from "./teams";

/** A webhook endpoint of a team. The trigger on `email_events` matches its events. */
export const webhooks = pgTable(
  "webhooks",
  {
    id: uuid().primaryKey(),
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    url: text().notNull(),
    events: text().array().notNull(),
    status: text({ enum: ["enabled", "disabled"] })
      .notNull()
      .default("enabled"),
    /** Why Backstamp disabled it: `gone` after a 410, `failing` after days without a success. Null if a member disabled it. */
    disabledReason: text({ enum: ["gone", "failing"] }),
    /** `whsec_…`, encrypted. */
    secret: text().notNull(),
    /** The secret before the last rotation, which also signs until `previousUntil`. */
    previousSecret: text(),
    previousUntil: timestamp({ withTimezone: true }),
    /** Since when all attempts have failed, and their number; null and 0 after a success. */
    failingSince: timestamp({ withTimezone: true }),
    failures: integer().notNull().default(0),
    /** No attempt before this time, because the endpoint or a proxy in front of it requested a pause. */
    pausedUntil: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [unique("webhooks_team_id_key").on(t.teamId, t.id)],
);

export const WEBHOOK_DELIVERY_STATUSES = ["pending", "attempting", "success", "failed"] as const;

/**
 * The outbox: one row per event and endpoint, written in the transaction of the event. `id` is the message id in the
 * request, the same in each attempt.
 */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: uuid().primaryKey(),
    teamId: uuid().notNull(),
    webhookId: uuid().notNull(),
    type: text().notNull(),
    /** The email event; null for all other events. */
    emailId: uuid(),
    eventId: uuid(),
    /** The new entry of a `suppression.added`; null for all other events. */
    data: jsonb().$type<SuppressionRow>(),
    /** The exact body, stored before the first attempt, so that all attempts sign the same bytes. */
    payload: text(),
    status: text({ enum: WEBHOOK_DELIVERY_STATUSES }).notNull().default("pending"),
    /** Attempts in this round; a replay starts a new round. Counted when a worker claims the row. */
    attempts: integer().notNull().default(0),
    dueAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    leaseToken: uuid(),
    leasedUntil: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    index("webhook_deliveries_list_idx").on(t.teamId, t.webhookId, t.id),
    index("webhook_deliveries_due_idx").on(t.webhookId, t.dueAt, t.id).where(sql`${t.status} = 'pending'`),
    // For the number of attempts in progress per endpoint and, with a full scan, for expired leases. It is always small.
    index("webhook_deliveries_attempting_idx")
      .on(t.webhookId, t.leasedUntil)
      .where(sql`${t.status} = 'attempting'`),
    index("webhook_deliveries_email_idx").on(t.teamId, t.emailId).where(sql`${t.emailId} is not null`),
    foreignKey({ columns: [t.teamId, t.webhookId], foreignColumns: [webhooks.teamId, webhooks.id] }).onDelete(
      "cascade",
    ),
  ],
);

/** One attempt of an event delivery and its result. */
export const webhookAttempts = pgTable(
  "webhook_attempts",
  {
    teamId: uuid().notNull(),
    deliveryId: uuid()
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: "cascade" }),
    id: uuid().notNull(),
    /** Starts at 1 and counts over all rounds of the delivery. */
    number: integer().notNull(),
    /** The request headers. */
    url: text().notNull(),
    headers: jsonb().$type<Record<string, string>>().notNull(),
    /** Null if there was no HTTP response. */
    statusCode: integer(),
    /** At most 16 KB of the response body, as text. */
    response: text(),
    /** The failure class if there was no response: `timeout`, `refused`, `blocked`, `tls`, `dns`, `network`. */
    fault: text(),
    durationMs: integer().notNull(),
    sentAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** When the next attempt was scheduled; null after the last attempt. */
    nextAttemptAt: timestamp({ withTimezone: true }),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.deliveryId, t.id] }),
    // For the cascade, which only has the delivery's id.
    index("webhook_attempts_delivery_idx").on(t.deliveryId),
  ],
);
