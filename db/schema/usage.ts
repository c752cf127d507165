import { bigint, date, integer, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";

/**
 * What happened on one day (UTC) to the mail of one key from one domain, counted in recipients. Sums of events that may
 * be long gone: `usage_progress` says up to where the feed is counted in.
 */
export const usageDays = pgTable(
  "usage_days",
  {
    teamId: uuid().notNull(),
    day: date({ mode: "string" }).notNull(),
    /** Null for what came without a key. */
    apiKeyId: uuid(),
    /** The sender's. */
    domain: text().notNull(),
    accepted: integer().notNull(),
    sent: integer().notNull(),
    delivered: integer().notNull(),
    bounced: integer().notNull(),
    complained: integer().notNull(),
    failed: integer().notNull(),
    suppressed: integer().notNull(),
    unknown: integer().notNull(),
    /** Of the earliest of these events, so that a reader of the feed finds a day without searching for it. */
    firstPosition: bigint({ mode: "number" }).notNull(),
  },
  (t) => [unique("usage_days_key").on(t.teamId, t.day, t.apiKeyId, t.domain).nullsNotDistinct()],
);

/** Up to which event of a team's feed the days are counted; that event included. */
export const usageProgress = pgTable("usage_progress", {
  teamId: uuid().primaryKey(),
  position: bigint({ mode: "number" }).notNull(),
  eventId: uuid().notNull(),
});
