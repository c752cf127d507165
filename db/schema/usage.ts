import { bigint, date, integer, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";

/**
 * Event counts of one day (UTC), key and domain, in recipients. The counted events may already be deleted. `usage_progress`
 * contains the position in the feed up to which events are counted.
 */
export const usageDays = pgTable(
  "usage_days",
  {
    teamId: uuid().notNull(),
    day: date({ mode: "string" }).notNull(),
    /** Null for emails without a key. */
    apiKeyId: uuid(),
    /** The sender's domain. */
    domain: text().notNull(),
    accepted: integer().notNull(),
    sent: integer().notNull(),
    delivered: integer().notNull(),
    bounced: integer().notNull(),
    complained: integer().notNull(),
    failed: integer().notNull(),
    suppressed: integer().notNull(),
    unknown: integer().notNull(),
    /** The position of the earliest of these events, to find the day in the feed without a search. */
    firstPosition: bigint({ mode: "number" }).notNull(),
  },
  (t) => [unique("usage_days_key").on(t.teamId, t.day, t.apiKeyId, t.domain).nullsNotDistinct()],
);

/** The last event of a team's feed that is included in the counts. */
export const usageProgress = pgTable("usage_progress", {
  teamId: uuid().primaryKey(),
  position: bigint({ mode: "number" }).notNull(),
  eventId: uuid().notNull(),
});
