import { sql } from "drizzle-orm";
import { boolean, date, index, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";

/**
 * To how many recipients mail was handed over on one day (UTC), where that day allows no more than a number: by the
 * sender's domain, and under the name "" for the whole team. Who tries to hand over holds the row locked, and so nobody
 * else counts meanwhile. A domain goes by its name here, so that adding it anew gives it no second day.
 */
export const sendingDays = pgTable(
  "sending_days",
  {
    teamId: uuid().notNull(),
    domain: text().notNull(),
    day: date({ mode: "string" }).notNull(),
    handedOver: integer().notNull().default(0),
    /** Mail was held over to the next day, and may be waiting still. */
    heldOver: boolean().notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.domain, t.day] }),
    index("sending_days_held_over_idx").on(t.day).where(sql`${t.heldOver}`),
  ],
);
