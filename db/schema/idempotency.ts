import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";

/**
 * The response to a request with an `Idempotency-Key`, written by the statement that accepts the email. A second request
 * with the key waits on the unique index until the first one commits, and then replays it. A crash leaves no row.
 */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    teamId: uuid().notNull(),
    route: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of the canonical form of the parsed body. */
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
