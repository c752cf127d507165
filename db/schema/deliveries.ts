import { sql } from "drizzle-orm";
import {
  date,
  foreignKey,
  index,
  integer,
  pgTable,
  smallint,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { emails } from "./emails";

export const DELIVERY_STATUSES = [
  "scheduled",
  "queued",
  "sending",
  "sent",
  "delivered",
  "bounced",
  "complained",
  "failed",
  "unknown",
  "suppressed",
  "canceled",
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** How far a claimed row has come. `handed_over` is committed before the SMTP dialogue begins. */
export const DELIVERY_STAGES = ["idle", "claimed", "handed_over"] as const;
export type DeliveryStage = (typeof DELIVERY_STAGES)[number];

/** Why a waiting row waits, or null where it simply is its turn. */
export const WAIT_RULES = [
  "retry_schedule",
  "greylisted",
  "transport_fault",
  "lease_expired",
  "unknown_retry",
  "no_transport",
  "released",
  "destination_pace",
  "relay_paused",
  "daily_cap",
  "warm_up",
  "team_daily_cap",
] as const;
export type WaitRule = (typeof WAIT_RULES)[number];

/** Of these what a day allows is used up, by the sender's domain or by the team. */
export type CapRule = Extract<WaitRule, "daily_cap" | "warm_up" | "team_daily_cap">;

/**
 * The queue: one row per recipient. A row is claimed by one UPDATE that sets a lease token and counts the attempt;
 * its result is written only where the token is still the same.
 */
export const deliveries = pgTable(
  "deliveries",
  {
    id: uuid().primaryKey(),
    teamId: uuid().notNull(),
    emailId: uuid().notNull(),
    /** Order among the mail's recipients: to, then cc, then bcc. */
    position: smallint().notNull(),
    kind: text({ enum: ["to", "cc", "bcc"] }).notNull(),
    address: text().notNull(),
    domain: text().notNull(),
    status: text({ enum: DELIVERY_STATUSES }).notNull(),
    /** Rank of the mail's priority: within its team 0 goes before 1, and 1 before 2. */
    priority: smallint().notNull().default(1),
    /** Counted when a worker claims the row. */
    attempts: integer().notNull().default(0),
    /** Claims whose worker vanished. A mail that keeps killing workers is given up by this count. */
    lapses: integer().notNull().default(0),
    /** When the next attempt may begin; `infinity` while nothing can be attempted. */
    dueAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    waitRule: text({ enum: WAIT_RULES }),
    stage: text({ enum: DELIVERY_STAGES }).notNull().default("idle"),
    /** The day in UTC of which it has used up one hand-over; only counted where a day allows no more than a number. */
    countedOn: date({ mode: "string" }),
    leaseToken: uuid(),
    leasedUntil: timestamp({ withTimezone: true }),
    lastCode: integer(),
    lastEnhanced: text(),
    lastText: text(),
    lastHost: text(),
    /** The last outcome in a sentence for people. */
    lastReason: text(),
    /** The relay that was last offered it, also after that was removed; null where `SMTP_URL` led. */
    relayId: uuid(),
    /** Under which the relay's provider knows it, as its 250 said; null where it said none. */
    providerId: text(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    index("deliveries_email_idx").on(t.teamId, t.emailId, t.position),
    index("deliveries_address_idx").on(t.teamId, t.address, t.emailId),
    /** From team to team, there from priority to priority, and within one by age. */
    index("deliveries_priority_idx")
      .on(t.teamId, t.priority, t.dueAt, t.id)
      .where(sql`${t.status} in ('queued', 'scheduled') and ${t.lapses} < 3`),
    index("deliveries_held_over_idx")
      .on(t.teamId, t.waitRule, t.dueAt, t.id)
      .where(sql`${t.status} = 'queued' and ${t.waitRule} in ('daily_cap', 'warm_up', 'team_daily_cap')`),
    index("deliveries_parked_idx")
      .on(t.id)
      .where(sql`${t.status} = 'queued' and ${t.waitRule} = 'no_transport' and ${t.dueAt} = 'infinity'`),
    index("deliveries_lease_idx").on(t.leasedUntil).where(sql`${t.status} = 'sending'`),
    /** For what a provider tells later, by its own id alone. */
    index("deliveries_provider_idx").on(t.relayId, t.providerId).where(sql`${t.providerId} is not null`),
    index("deliveries_suspect_idx").on(t.dueAt, t.id).where(sql`${t.status} = 'queued' and ${t.lapses} >= 3`),
    foreignKey({ columns: [t.teamId, t.emailId], foreignColumns: [emails.teamId, emails.id] }).onDelete(
      "cascade",
    ),
  ],
);
