import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";

/**
 * The answer given under an `Idempotency-Key`, written by the statement that accepts the mail. A second request with
 * the key waits on the unique index until the first commits, then replays; a crash leaves no row behind.
 */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    teamId: uuid().notNull(),
    route: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of the parsed body in canonical form. */
    fingerprint: bytea().notNull(),
    status: integer().notNull(),
    answer: jsonb().notNull(),
    expiresAt: timestamp({ withTimezone: true }).notNull().default(sql`now() + interval '24 hours'`),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.route, t.key] }),
    index("idempotency_keys_expiry_idx").on(t.expiresAt),
  ],
);
