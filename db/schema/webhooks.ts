import { sql } from "drizzle-orm";
import { index, pgTable, primaryKey, unique } from "drizzle-orm/pg-core";
import { childOf, instant, now } from "../columns";
import type { SuppressionRow } from "./suppressions";
import { ofTeam } from "./teams";

/** A webhook endpoint of a team. The trigger on `email_events` matches its events. */
export const webhooks = pgTable(
  "webhooks",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: ofTeam(),
    url: c.text().notNull(),
    events: c.text().array().notNull(),
    status: c
      .text({ enum: ["enabled", "disabled"] })
      .notNull()
      .default("enabled"),
    /**
     * Why Backstamp disabled it: `gone` after a 410, `failing` after days without a success. Null if a member
     * disabled it.
     */
    disabledReason: c.text({ enum: ["gone", "failing"] }),
    /** `whsec_…`, encrypted. */
    secret: c.text().notNull(),
    /** The secret before the last rotation, which also signs until `previousUntil`. */
    previousSecret: c.text(),
    previousUntil: instant(),
    /** Since when all attempts have failed, and their number; null and 0 after a success. */
    failingSince: instant(),
    failures: c.integer().notNull().default(0),
    /**
     * The result of the last attempt that failed, or that ended a run of failures. Attempts of a healthy
     * endpoint are not written here, because a busy endpoint's row would be contended.
     */
    lastResponse: c
      .jsonb()
      .$type<{ http_status_code: number | null; fault: string | null; sent_at: string }>(),
    /** No attempt before this time, because the endpoint or a proxy in front of it requested a pause. */
    pausedUntil: instant(),
    createdAt: now(),
  }),
  (t) => [unique("webhooks_team_id_key").on(t.teamId, t.id)],
);

export const WEBHOOK_DELIVERY_STATUSES = ["pending", "attempting", "success", "failed"] as const;

/**
 * The outbox: one row per event and endpoint, written in the transaction of the event. `id` is the message id
 * in the request, the same in each attempt. A trigger deletes the attempts of a deleted row.
 */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: c.uuid().notNull(),
    webhookId: c.uuid().notNull(),
    type: c.text().notNull(),
    /** The email event; null for all other events. */
    emailId: c.uuid(),
    eventId: c.uuid(),
    /** The new entry of a `suppression.added`; null for all other events. */
    data: c.jsonb().$type<SuppressionRow>(),
    /** The exact body, stored before the first attempt, so that all attempts sign the same bytes. */
    payload: c.text(),
    status: c.text({ enum: WEBHOOK_DELIVERY_STATUSES }).notNull().default("pending"),
    /** Attempts in this round; a replay starts a new round. Counted when a worker claims the row. */
    attempts: c.integer().notNull().default(0),
    dueAt: now(),
    leaseToken: c.uuid(),
    leasedUntil: instant(),
    createdAt: now(),
  }),
  (t) => [
    index("webhook_deliveries_list_idx").on(t.teamId, t.webhookId, t.id),
    index("webhook_deliveries_due_idx").on(t.webhookId, t.dueAt, t.id).where(sql`${t.status} = 'pending'`),
    // For the number of attempts in progress per endpoint and, with a full scan, for expired leases. It is
    // always small.
    index("webhook_deliveries_attempting_idx")
      .on(t.webhookId, t.leasedUntil)
      .where(sql`${t.status} = 'attempting'`),
    index("webhook_deliveries_email_idx").on(t.teamId, t.emailId).where(sql`${t.emailId} is not null`),
    childOf([t.teamId, t.webhookId], [webhooks.teamId, webhooks.id]),
  ],
);

/** One attempt of an event delivery and its result. What inserts it locks the event delivery first. */
export const webhookAttempts = pgTable(
  "webhook_attempts",
  (c) => ({
    teamId: c.uuid().notNull(),
    deliveryId: c.uuid().notNull(),
    id: c.uuid().notNull(),
    /** Starts at 1 and counts over all rounds of the delivery. */
    number: c.integer().notNull(),
    /** The request headers. */
    url: c.text().notNull(),
    headers: c.jsonb().$type<Record<string, string>>().notNull(),
    /** Null if there was no HTTP response. */
    statusCode: c.integer(),
    /** At most 16 KB of the response body, as text. */
    response: c.text(),
    /**
     * The failure class if there was no response: `timeout`, `refused`, `blocked`, `tls`, `dns`, `network`.
     */
    fault: c.text(),
    durationMs: c.integer().notNull(),
    sentAt: now(),
    /** When the next attempt was scheduled; null after the last attempt. */
    nextAttemptAt: instant(),
  }),
  (t) => [primaryKey({ columns: [t.teamId, t.deliveryId, t.id] })],
);
