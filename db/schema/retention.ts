import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, timestamp, uuid } from "drizzle-orm/pg-core";
import { teams } from "./teams";

/**
 * How long a team's mail is kept, in days from its acceptance, and how far the worker has come with it. A team without a row
 * keeps all of it for good.
 */
export const retention = pgTable(
  "retention",
  {
    teamId: uuid()
      .primaryKey()
      .references(() => teams.id, { onDelete: "cascade" }),
    /** What a mail says, and its files. Null: as long as the mail. */
    bodiesDays: integer(),
    /** The mail with its recipients and everything that happened to it. Null: for good. */
    emailsDays: integer(),
    /** The last mail that this round has looked at; null at its beginning. */
    bodiesTo: uuid(),
    emailsTo: uuid(),
    /** When a worker may take it on: the next round is due, or the lease of whoever had it is over. */
    nextAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** Whoever has it. A change of the days takes it away, so that nothing goes on by the former ones. */
    leaseToken: uuid(),
  },
  (t) => [
    index("retention_due_idx").on(t.nextAt),
    check("retention_days", sql`${t.bodiesDays} >= 1 and ${t.emailsDays} >= 1`),
  ],
);
