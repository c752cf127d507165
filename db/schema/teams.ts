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

/** What happens to a delivery of which nobody can know whether the far side took it. */
export const UNKNOWN_POLICIES = ["retry", "hold"] as const;
export type UnknownPolicy = (typeof UNKNOWN_POLICIES)[number];

/** The tenant. Every other tenant table carries its id. */
export const teams = pgTable("teams", {
  id: uuid().primaryKey(),
  name: text().notNull(),
  unknownPolicy: text({ enum: UNKNOWN_POLICIES }).notNull().default("retry"),
  /** Recipients a day (UTC) whose mail may be handed over, from all domains together; null for no such limit. */
  dailyCap: integer(),
  createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
});

/** A person who signs in to the console. The address is stored in lower case and is unique. */
export const users = pgTable(
  "users",
  {
    id: uuid().primaryKey(),
    email: text().notNull(),
    name: text(),
    /** `scrypt$N$r$p$salt$hash`; null where the person only signs in by other means. */
    passwordHash: text(),
    /**
     * When it was first known that the address is theirs; null while they are whoever held a link that was shown to somebody
     * else. What such a person set up is worth nothing once the owner of the address comes.
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

/** Our own row behind next-auth's token: signing out, or a new password, ends it at the next call. */
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
