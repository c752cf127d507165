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
import { teams } from "./teams";

/** An endpoint of a team. Its events are matched by the trigger on `email_events`. */
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
    /** Why it was disabled, where we did it: `gone` after a 410, `failing` after days without a success. */
    disabledReason: text({ enum: ["gone", "failing"] }),
    /** `whsec_…`, encrypted. */
    secret: text().notNull(),
    /** The secret before the last rotation, still signing until `previousUntil`. */
    previousSecret: text(),
    previousUntil: timestamp({ withTimezone: true }),
    /** Since when every attempt has failed, and how many that were; null and 0 after a success. */
    failingSince: timestamp({ withTimezone: true }),
    failures: integer().notNull().default(0),
    /** Not called before this time: the endpoint, or a server in front of it, asked for a pause. */
    pausedUntil: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [unique("webhooks_team_id_key").on(t.teamId, t.id)],
);

export const WEBHOOK_DELIVERY_STATUSES = ["pending", "attempting", "success", "failed"] as const;

/**
 * The outbox: one row per event and endpoint, written in the transaction of the event. `id` is the message id that the
 * receiver sees, the same in every attempt.
 */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: uuid().primaryKey(),
    teamId: uuid().notNull(),
    webhookId: uuid().notNull(),
    type: text().notNull(),
    /** The mail's event this tells of; null for events that bring their payload themselves. */
    emailId: uuid(),
    eventId: uuid(),
    /** The exact body, fixed at the first attempt, so that all attempts sign the same bytes. */
    payload: text(),
    status: text({ enum: WEBHOOK_DELIVERY_STATUSES }).notNull().default("pending"),
    /** Of this round: a replay begins a new one. Counted when a worker claims the row. */
    attempts: integer().notNull().default(0),
    dueAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    leaseToken: uuid(),
    leasedUntil: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    index("webhook_deliveries_list_idx").on(t.teamId, t.webhookId, t.id),
    index("webhook_deliveries_due_idx").on(t.webhookId, t.dueAt, t.id).where(sql`${t.status} = 'pending'`),
    // How many calls an endpoint has under way, and, read whole, whose leases ran out: there are never many.
    index("webhook_deliveries_attempting_idx")
      .on(t.webhookId, t.leasedUntil)
      .where(sql`${t.status} = 'attempting'`),
    index("webhook_deliveries_email_idx").on(t.teamId, t.emailId).where(sql`${t.emailId} is not null`),
    foreignKey({ columns: [t.teamId, t.webhookId], foreignColumns: [webhooks.teamId, webhooks.id] }).onDelete(
      "cascade",
    ),
  ],
);

/** One call of an endpoint and what came of it. */
export const webhookAttempts = pgTable(
  "webhook_attempts",
  {
    teamId: uuid().notNull(),
    deliveryId: uuid()
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: "cascade" }),
    id: uuid().notNull(),
    /** From 1, over all rounds of the delivery. */
    number: integer().notNull(),
    /** What was sent beside the payload. */
    url: text().notNull(),
    headers: jsonb().$type<Record<string, string>>().notNull(),
    /** Null where no HTTP answer came. */
    statusCode: integer(),
    /** At most 16 KB of the answer, as text. */
    response: text(),
    /** A class of failure without an answer: `timeout`, `refused`, `blocked`, `tls`, `dns`, `network`. */
    fault: text(),
    durationMs: integer().notNull(),
    sentAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** When the next one was planned after this; null after the last. */
    nextAttemptAt: timestamp({ withTimezone: true }),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.deliveryId, t.id] }),
    // For the cascade, which knows the delivery alone.
    index("webhook_attempts_delivery_idx").on(t.deliveryId),
  ],
);
