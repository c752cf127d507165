import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
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

/** The built-in domain of scripted recipients. Each team has its own row of it, always verified. */
export const BUILT_IN_DOMAIN = "backstamp.test";

export const RECORD_STATUSES = ["not_started", "pending", "verified", "failed", "temporary_failure"] as const;

/** The checked records: those to publish, and two others that a domain has or should have. */
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

/** The result of the last check of one record of a domain. */
export type RecordCheck = {
  key: CheckKey;
  askedName: string;
  type: string;
  /** `address:port` of the name server that responded, or of the last one queried. */
  resolver: string;
  /** Null for a record that belongs to another service and is only checked for faults. */
  expected: string | null;
  answers: string[];
  status: (typeof RECORD_STATUSES)[number];
  /** The name of the fault, and a sentence that says what to do. Null if there is no fault. */
  fault: string | null;
  advice: string | null;
};

/**
 * A sending domain, as a lower-case A-label name. Several teams can add the same name, but only one team at a time can have
 * it verified. The built-in domain is verified for all teams.
 */
export const domains = pgTable(
  "domains",
  {
    id: uuid().primaryKey(),
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    name: text().notNull(),
    status: text({ enum: DOMAIN_STATUSES }).notNull().default("not_started"),
    /** Set if the operator verified the domain manually. DNS checks do not change its status then. */
    declaredVerifiedAt: timestamp({ withTimezone: true }),
    /** Label of the return path below the domain. */
    returnPathLabel: text().notNull().default("send"),
    /** Random token for this name and team. Its DNS record proves that the team may use the name. */
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
    /** Daily cap in recipients per day (UTC); null for no cap. */
    dailyCap: integer(),
    /** Warm-up: its first day (UTC) with the number of recipients, the growth per day in percent, and the target. */
    warmUpFrom: date({ mode: "string" }),
    warmUpFirst: integer(),
    warmUpGrowth: integer(),
    /** The warm-up ends on the day that would allow this many recipients; null: the daily cap is the target. */
    warmUpTarget: integer(),
    checks: jsonb().$type<RecordCheck[]>().notNull().default([]),
    lastCheckedAt: timestamp({ withTimezone: true }),
    nextCheckAt: timestamp({ withTimezone: true }),
    /**
     * Since when checks fail: for a verified domain since the first failed check, for any other since verification was
     * requested. A single failed check does not change a verified domain.
     */
    failingSince: timestamp({ withTimezone: true }),
    /** Number of definite check failures since then. */
    failedChecks: integer().notNull().default(0),
    /** When the domain is deleted if it is not verified; null once it was verified. */
    expiresAt: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex("domains_verified_name_key")
      .on(t.name)
      .where(sql`${t.status} = 'verified' and ${t.name} <> 'backstamp.test'`),
    unique("domains_team_name_key").on(t.teamId, t.name),
    unique("domains_team_id_key").on(t.teamId, t.id),
    check(
      "domains_warm_up_whole",
      sql`num_nulls(${t.warmUpFrom}, ${t.warmUpFirst}, ${t.warmUpGrowth}) in (0, 3)`,
    ),
    check("domains_verified_stays", sql`${t.status} <> 'verified' or ${t.expiresAt} is null`),
    index("domains_expiry_idx").on(t.expiresAt).where(sql`${t.expiresAt} is not null`),
    index("domains_next_check_idx").on(t.nextCheckAt).where(sql`${t.nextCheckAt} is not null`),
  ],
);

/**
 * The DKIM keys of a domain. The acceptance time of an email determines which keys sign it, so they are the same in each
 * attempt. A new key signs only after its record was found in DNS. After its successor starts to sign, its record must stay
 * published while emails signed with it can be in progress.
 */
export const dkimKeys = pgTable(
  "dkim_keys",
  {
    teamId: uuid().notNull(),
    id: uuid().notNull(),
    domainId: uuid().notNull(),
    algorithm: text({ enum: ["rsa", "ed25519"] }).notNull(),
    /** DNS label below `_domainkey`. */
    selector: text().notNull(),
    /** PKCS #8 PEM, encrypted. */
    privateKey: text().notNull(),
    /** Base64 of the public key, as published in `p=`. */
    publicKey: text().notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** It signs emails accepted from this time on; null while it awaits DNS. */
    signsFrom: timestamp({ withTimezone: true }),
    /** It signs emails accepted before this time; null while it has no successor. */
    signsUntil: timestamp({ withTimezone: true }),
    /** The earliest time at which its record may be removed from DNS. */
    keptUntil: timestamp({ withTimezone: true }),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    unique("dkim_keys_selector_key").on(t.teamId, t.domainId, t.selector),
    foreignKey({ columns: [t.teamId, t.domainId], foreignColumns: [domains.teamId, domains.id] }).onDelete(
      "cascade",
    ),
  ],
);
