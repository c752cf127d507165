import { sql } from "drizzle-orm";
import { boolean, date, index, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";

/**
 * The number of recipients on one day (UTC) where a daily cap applies: by the sender's domain, and with the name "" for the
 * whole team. A worker locks the row while it counts. The row contains the domain's name instead of its id, so that removing
 * and adding a domain does not reset its count.
 */
export const sendingDays = pgTable(
  "sending_days",
  {
    teamId: uuid().notNull(),
    domain: text().notNull(),
    day: date({ mode: "string" }).notNull(),
    handedOver: integer().notNull().default(0),
    /** Whether deliveries were postponed to the next day and may still be queued. */
    heldOver: boolean().notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.domain, t.day] }),
    index("sending_days_held_over_idx").on(t.day).where(sql`${t.heldOver}`),
  ],
);
