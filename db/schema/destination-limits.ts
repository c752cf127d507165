import { sql } from "drizzle-orm";
import { check, integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";

/**
 * The operator's limits for one destination, shared by all teams and workers. They apply to direct delivery to MX hosts, in
 * addition to the throttling that results from the destination's replies.
 */
export const destinationLimits = pgTable(
  "destination_limits",
  {
    /** The recipients' domain as in deliveries: lower case, ASCII form. */
    domain: text().primaryKey(),
    /** Maximum concurrent SMTP sessions; null for no limit. */
    connectionsMax: integer(),
    /** Maximum emails per minute; null for no limit. */
    perMinute: integer(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    check("destination_limits_connections", sql`${t.connectionsMax} > 0`),
    check("destination_limits_per_minute", sql`${t.perMinute} > 0`),
    check("destination_limits_limit", sql`num_nonnulls(${t.connectionsMax}, ${t.perMinute}) > 0`),
  ],
);
