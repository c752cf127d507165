import { sql } from "drizzle-orm";
import { check, integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";

/**
 * What the operator allows one destination at most, over all teams and all workers. It holds for mail that goes straight to
 * the recipients' servers, beside what their own answers teach.
 */
export const destinationLimits = pgTable(
  "destination_limits",
  {
    /** The recipients' domain as deliveries have it: in lower case, in its ASCII form. */
    domain: text().primaryKey(),
    /** Dialogues at once; null for as many as it bears. */
    connectionsMax: integer(),
    /** Mails a minute; null for as many as it bears. */
    perMinute: integer(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    check("destination_limits_connections", sql`${t.connectionsMax} > 0`),
    check("destination_limits_per_minute", sql`${t.perMinute} > 0`),
    check("destination_limits_limit", sql`num_nonnulls(${t.connectionsMax}, ${t.perMinute}) > 0`),
  ],
);
