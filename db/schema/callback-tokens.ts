import { index, pgTable, primaryKey, timestamp, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { relays } from "./relays";

/**
 * Which body each signed token of a provider was used for, where the provider signs no more than that: a second use must be
 * for the same. Forgotten once the token is too old to be believed.
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
