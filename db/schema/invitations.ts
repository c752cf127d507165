import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, text, timestamp, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { ROLES, teams, users } from "./teams";

/**
 * A link by which the owner of one address joins a team, once: the one that was shown to whoever invites, or the one that
 * was mailed. Only the hash of what is in a link is kept. Rows stay when they are spent, so that the link can say what
 * became of it.
 */
export const invitations = pgTable(
  "invitations",
  {
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    id: uuid().notNull(),
    /** Whom it is for, in lower case. */
    email: text().notNull(),
    role: text({ enum: ROLES }).notNull(),
    /** SHA-256 of the token in the link that was shown. */
    tokenHash: bytea().notNull(),
    /** Of the token in the link that was mailed, which nobody but the mailbox was told; null where none was. */
    mailedTokenHash: bytea(),
    /** Null for the operator at the command line, or where that person is gone. */
    invitedBy: uuid().references(() => users.id, { onDelete: "set null" }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** When the link that holds now was made: an earlier one opens nothing. */
    linkedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    acceptedAt: timestamp({ withTimezone: true }),
    acceptedBy: uuid().references(() => users.id, { onDelete: "set null" }),
    revokedAt: timestamp({ withTimezone: true }),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    uniqueIndex("invitations_token_key").on(t.tokenHash),
    uniqueIndex("invitations_mailed_token_key").on(t.mailedTokenHash),
    uniqueIndex("invitations_open_key")
      .on(t.teamId, t.email)
      .where(sql`${t.acceptedAt} is null and ${t.revokedAt} is null`),
    index("invitations_inviter_idx").on(t.teamId, t.invitedBy),
    check("invitations_email_lower", sql`${t.email} = lower(${t.email})`),
  ],
);
