import { sql } from "drizzle-orm";
import { boolean, check, index, pgTable, text, timestamp, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { users } from "./teams";

export const TOKEN_PURPOSES = ["sign_in_link", "password_reset", "first_user"] as const;
export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/** One-time tokens: of a link that was emailed or shown, or the code for the first user. */
export const signInTokens = pgTable(
  "sign_in_tokens",
  {
    id: uuid().primaryKey(),
    purpose: text({ enum: TOKEN_PURPOSES }).notNull(),
    /** The user of the token; null for the first user, who does not exist yet. */
    userId: uuid().references(() => users.id, { onDelete: "cascade" }),
    /** SHA-256 of the token in the link or of the code, which is not stored. */
    secretHash: bytea().notNull(),
    /** Whether the token was sent only to the user's mailbox. */
    isMailed: boolean().notNull().default(false),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    spentAt: timestamp({ withTimezone: true }),
  },
  (t) => [
    uniqueIndex("sign_in_tokens_secret_key").on(t.secretHash),
    index("sign_in_tokens_user_idx").on(t.userId),
    check("sign_in_tokens_user", sql`(${t.userId} is null) = (${t.purpose} = 'first_user')`),
  ],
);
