import { sql } from "drizzle-orm";
import { pgTable, text, timestamp, unique, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { teams } from "./teams";

export const DOMAIN_STATUSES = [
  "not_started",
  "pending",
  "verified",
  "failed",
  "partially_verified",
  "partially_failed",
] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

/** The built-in domain of scripted recipients. Every team has its own row of it, always verified. */
export const BUILT_IN_DOMAIN = "posthorn.test";

/** A sending domain, as a lower-case A-label name. A name belongs to one team at a time, the built-in one to all. */
export const domains = pgTable(
  "domains",
  {
    id: uuid().primaryKey(),
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    name: text().notNull(),
    status: text({ enum: DOMAIN_STATUSES }).notNull().default("not_started"),
    /** Set when an operator, not DNS, says that the domain is verified; re-checks leave it alone. */
    declaredVerifiedAt: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex("domains_name_key").on(t.name).where(sql`${t.name} <> 'posthorn.test'`),
    unique("domains_team_name_key").on(t.teamId, t.name),
    unique("domains_team_id_key").on(t.teamId, t.id),
  ],
);
