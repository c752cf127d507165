import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytea, instant, now } from "../columns";

/** What happens to a delivery with an unknown outcome. */
export const UNKNOWN_POLICIES = ["retry", "hold"] as const;
export type UnknownPolicy = (typeof UNKNOWN_POLICIES)[number];

/** The tenant. All other tenant tables contain its id. */
export const teams = pgTable("teams", (c) => ({
  id: c.uuid().primaryKey(),
  name: c.text().notNull(),
  unknownPolicy: c.text({ enum: UNKNOWN_POLICIES }).notNull().default("retry"),
  /** Daily cap in recipients per day (UTC) for all domains together; null for no cap. */
  dailyCap: c.integer(),
  /** The mailboxes that get copies of bounces and of people's replies; null: no copies. */
  bounceCopiesTo: c.text(),
  replyCopiesTo: c.text(),
  createdAt: now(),
}));

/** A user of the console. The address is stored in lower case and is unique. */
export const users = pgTable(
  "users",
  (c) => ({
    id: c.uuid().primaryKey(),
    email: c.text().notNull(),
    name: c.text(),
    /** `scrypt$N$r$p$salt$hash`; null if the user only signs in by other means. */
    passwordHash: c.text(),
    /**
     * When the address was first verified. Null if the user was created with a link that was not sent to the
     * address. The sign-in methods that such a user set up become invalid once the owner of the address signs
     * in.
     */
    addressVerifiedAt: instant(),
    /** Operates the installation, across all teams. */
    isOperator: c.boolean().notNull().default(false),
    /**
     * Receives alerts by email: of the teams that the user owns or administers, and as an operator of the
     * installation.
     */
    hasAlertEmails: c.boolean().notNull().default(true),
    createdAt: now(),
  }),
  (t) => [
    uniqueIndex("users_email_key").on(t.email),
    check("users_email_lower", sql`${t.email} = lower(${t.email})`),
  ],
);

/** The team of a row, which is deleted with it. */
export const ofTeam = () =>
  uuid()
    .notNull()
    .references(() => teams.id, { onDelete: "cascade" });

/** The same for the user of a row. */
export const ofUser = () =>
  uuid()
    .notNull()
    .references(() => users.id, { onDelete: "cascade" });

export const ROLES = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export const memberships = pgTable(
  "memberships",
  (c) => ({
    teamId: ofTeam(),
    userId: ofUser(),
    role: c.text({ enum: ROLES }).notNull(),
    createdAt: now(),
  }),
  (t) => [primaryKey({ columns: [t.teamId, t.userId] }), index("memberships_user_idx").on(t.userId)],
);

/**
 * The session behind next-auth's token. After sign-out or a password change, the next request with the token
 * is rejected.
 */
export const sessions = pgTable(
  "sessions",
  (c) => ({
    id: c.uuid().primaryKey(),
    userId: ofUser(),
    userAgent: c.text(),
    address: c.text(),
    createdAt: now(),
    lastSeenAt: now(),
    expiresAt: instant().notNull(),
    revokedAt: instant(),
  }),
  (t) => [index("sessions_user_idx").on(t.userId), index("sessions_age_idx").on(t.createdAt)],
);

/**
 * An invitation with which the owner of one address joins a team, once, with the link shown to the inviting
 * member or the link sent by email. Only the hashes of the link tokens are stored. Used rows are kept, so
 * that the link can show the invitation's state.
 */
export const invitations = pgTable(
  "invitations",
  (c) => ({
    teamId: ofTeam(),
    id: c.uuid().notNull(),
    /** The invited address, in lower case. */
    email: c.text().notNull(),
    role: c.text({ enum: ROLES }).notNull(),
    /** SHA-256 of the token in the link shown to the inviting member. */
    tokenHash: bytea().notNull(),
    /** SHA-256 of the token in the emailed link, which only the mailbox received; null if none was sent. */
    mailedTokenHash: bytea(),
    /** Null for the operator on the command line, or if the user was deleted. */
    invitedBy: c.uuid().references(() => users.id, { onDelete: "set null" }),
    createdAt: now(),
    /** When the current link was created. Earlier links are invalid. */
    linkedAt: now(),
    expiresAt: instant().notNull(),
    acceptedAt: instant(),
    acceptedBy: c.uuid().references(() => users.id, { onDelete: "set null" }),
    revokedAt: instant(),
  }),
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

/**
 * The retention settings of a team, in days from acceptance, and the progress of the worker. Without a row, a
 * team's emails do not expire.
 */
export const retention = pgTable(
  "retention",
  (c) => ({
    teamId: ofTeam().primaryKey(),
    /** Message content and attachments. Null: as long as the message record. */
    bodiesDays: c.integer(),
    /** Message records with their recipients and events. Null: no expiry. */
    emailsDays: c.integer(),
    /** The last email that this round has processed; null at its start. */
    bodiesTo: c.uuid(),
    emailsTo: c.uuid(),
    /** When the next round is due, or the next attempt of one that failed. */
    nextAt: now(),
  }),
  (t) => [
    index("retention_due_idx").on(t.nextAt),
    check("retention_days", sql`${t.bodiesDays} >= 1 and ${t.emailsDays} >= 1`),
  ],
);
