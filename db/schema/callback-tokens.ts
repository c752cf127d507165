import { index, pgTable, primaryKey, timestamp, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { relays } from "./relays";

/**
 * The body for which a provider's signed token was used, for providers whose signature does not cover the body. A second use
 * must have the same body. Deleted after the token has expired.
 */
export const callbackTokens = pgTable(
  "callback_tokens",
  {
    relayId: uuid()
      .notNull()
      .references(() => relays.id, { onDelete: "cascade" }),
    /** SHA-256 of the token. */
    token: bytea().notNull(),
    /** SHA-256 of the body. */
    body: bytea().notNull(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.relayId, t.token] }), index("callback_tokens_expiry_idx").on(t.expiresAt)],
);
