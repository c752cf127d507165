import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
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

export const RECORD_STATUSES = ["not_started", "pending", "verified", "failed", "temporary_failure"] as const;

/** What is looked at: the records to publish, and two that a domain has or should have beside them. */
export const CHECK_KEYS = [
  "dkim",
  "dkim_next",
  "dkim_ed25519",
  "dkim_retired",
  "ownership",
  "mx",
  "spf",
  "tracking",
  "domain_spf",
  "dmarc",
] as const;
export type CheckKey = (typeof CHECK_KEYS)[number];

/** What the last look at one record of a domain showed. */
export type RecordCheck = {
  key: CheckKey;
  askedName: string;
  type: string;
  /** `address:port` of the name server that answered, or that was asked last. */
  resolver: string;
  /** Null where the record is somebody else's, and only looked at for faults. */
  expected: string | null;
  answers: string[];
  status: (typeof RECORD_STATUSES)[number];
  /** The fault by name, and in a sentence that says what to do; null where all is well. */
  fault: string | null;
  advice: string | null;
};

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
    /** Label of the return path below the domain. */
    returnPathLabel: text().notNull().default("send"),
    /** Random, name-bound and the team's own: shows in DNS that this team may use the name. */
    ownershipToken: text(),
    region: text().notNull().default("us-east-1"),
    tls: text({ enum: ["opportunistic", "enforced"] })
      .notNull()
      .default("opportunistic"),
    openTracking: boolean().notNull().default(false),
    clickTracking: boolean().notNull().default(false),
    trackingSubdomain: text(),
    sending: boolean().notNull().default(true),
    receiving: boolean().notNull().default(false),
    /** Recipients a day (UTC) whose mail may be handed over from it; null for no such limit. */
    dailyCap: integer(),
    /** Its warm-up: the first day's number from this day (UTC) on, each day so many per cent more, up to the target. */
    warmUpFrom: date({ mode: "string" }),
    warmUpFirst: integer(),
    warmUpGrowth: integer(),
    /** From the day on that would allow so many the warm-up is over; null where the daily cap ends it. */
    warmUpTarget: integer(),
    checks: jsonb().$type<RecordCheck[]>().notNull().default([]),
    lastCheckedAt: timestamp({ withTimezone: true }),
    nextCheckAt: timestamp({ withTimezone: true }),
    /**
     * Since when looks do not find it in order: a verified domain from the first such look, any other one from when
     * verification was asked for. A single bad look at a verified domain changes nothing.
     */
    failingSince: timestamp({ withTimezone: true }),
    /** How many looks since then were bad without doubt. */
    failedLooks: integer().notNull().default(0),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex("domains_name_key").on(t.name).where(sql`${t.name} <> 'posthorn.test'`),
    unique("domains_team_name_key").on(t.teamId, t.name),
    unique("domains_team_id_key").on(t.teamId, t.id),
    check(
      "domains_warm_up_whole",
      sql`num_nulls(${t.warmUpFrom}, ${t.warmUpFirst}, ${t.warmUpGrowth}) in (0, 3)`,
    ),
    index("domains_next_check_idx").on(t.nextCheckAt).where(sql`${t.nextCheckAt} is not null`),
  ],
);
