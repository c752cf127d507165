import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, timestamp, uuid } from "drizzle-orm/pg-core";
import { teams } from "./teams";

/**
 * The retention settings of a team, in days from acceptance, and the progress of the worker. Without a row, a team's emails
 * do not expire.
 */
export const retention = pgTable(
  "retention",
  {
    teamId: uuid()
      .primaryKey()
      .references(() => teams.id, { onDelete: "cascade" }),
    /** Message content and attachments. Null: as long as the message record. */
    bodiesDays: integer(),
    /** Message records with their recipients and events. Null: no expiry. */
    emailsDays: integer(),
    /** The last email that this round has processed; null at its start. */
    bodiesTo: uuid(),
    emailsTo: uuid(),
    /** When a worker may claim it: the next round is due, or the previous worker's lease has expired. */
    nextAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** The lease of the current worker. A change of the settings clears it, so that the worker stops using the old ones. */
    leaseToken: uuid(),
  },
  (t) => [
    index("retention_due_idx").on(t.nextAt),
    check("retention_days", sql`${t.bodiesDays} >= 1 and ${t.emailsDays} >= 1`),
  ],
);
