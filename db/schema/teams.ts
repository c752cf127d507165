import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";

/** What happens to a delivery with an unknown outcome. */
export const UNKNOWN_POLICIES = ["retry", "hold"] as const;
export type UnknownPolicy = (typeof UNKNOWN_POLICIES)[number];

/** The tenant. All other tenant tables contain its id. */
export const teams = pgTable("teams", {
  id: uuid().primaryKey(),
  name: text().notNull(),
  unknownPolicy: text({ enum: UNKNOWN_POLICIES }).notNull().default("retry"),
  /** Daily cap in recipients per day (UTC) for all domains together; null for no cap. */
  dailyCap: integer(),
  createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
});

/** A user of the console. The address is stored in lower case and is unique. */
export const users = pgTable(
  "users",
  {
    id: uuid().primaryKey(),
    email: text().notNull(),
    name: text(),
    /** `scrypt$N$r$p$salt$hash`; null if the user only signs in by other means. */
    passwordHash: text(),
    /**
     * When the address was first verified. Null if the user was created with a link that was not sent to the address. The
     * sign-in methods that such a user set up become invalid once the owner of the address signs in.
     */
    addressProvedAt: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex("users_email_key").on(t.email),
    check("users_email_lower", sql`${t.email} = lower(${t.email})`),
  ],
);

export const ROLES = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export const memberships = pgTable(
  "memberships",
  {
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    role: text({ enum: ROLES }).notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.teamId, t.userId] }), index("memberships_user_idx").on(t.userId)],
);

/** The session behind next-auth's token. After sign-out or a password change, the next request with the token is rejected. */
export const sessions = pgTable(
  "sessions",
  {
    id: uuid().primaryKey(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    userAgent: text(),
    address: text(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    lastSeenAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    revokedAt: timestamp({ withTimezone: true }),
  },
  (t) => [index("sessions_user_idx").on(t.userId), index("sessions_age_idx").on(t.createdAt)],
);
