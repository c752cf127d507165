import { bigint, index, integer, pgTable } from "drizzle-orm/pg-core";
import { bytea } from "../columns";

/** Sign-in attempts by limiter key: an address, an account, a known browser. Rows are deleted minutes after their last use. */
export const signInCounters = pgTable(
  "sign_in_counters",
  {
    /** SHA-256 of the counter's name. The name can contain an address, and its length is user input. */
    counter: bytea().primaryKey(),
    /** The minute of `count` since the epoch. `previous` is the count of the minute before. */
    minute: bigint({ mode: "number" }).notNull(),
    count: integer().notNull(),
    previous: integer().notNull(),
  },
  (t) => [index("sign_in_counters_minute_idx").on(t.minute)],
);
