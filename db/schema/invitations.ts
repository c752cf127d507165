import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, text, timestamp, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { ROLES, teams, users } from "./teams";

/**
 * An invitation with which the owner of one address joins a team, once, with the link shown to the inviting member or the
 * link sent by email. Only the hashes of the link tokens are stored. Used rows are kept, so that the link can show the
 * invitation's state.
 */
export const invitations = pgTable(
  "invitations",
  {
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    id: uuid().notNull(),
    /** The invited address, in lower case. */
    email: text().notNull(),
    role: text({ enum: ROLES }).notNull(),
    /** SHA-256 of the token in the link shown to the inviting member. */
    tokenHash: bytea().notNull(),
    /** SHA-256 of the token in the emailed link, which only the mailbox received; null if none was sent. */
    mailedTokenHash: bytea(),
    /** Null for the operator on the command line, or if the user was deleted. */
    invitedBy: uuid().references(() => users.id, { onDelete: "set null" }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** When the current link was created. Earlier links are invalid. */
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
