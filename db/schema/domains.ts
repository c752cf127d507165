import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { childOf, instant, now, periods } from "../columns";
import { ofTeam } from "./teams";

export const DOMAIN_STATUSES = [
  "not_started",
  "pending",
  "verified",
  "failed",
  "partially_verified",
  "partially_failed",
] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

/** What email of the domain requires of connections. Release 0.2.0 treats `verified` as `opportunistic`. */
export const DOMAIN_TLS = ["opportunistic", "enforced", "verified"] as const;

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
  "tracking_https",
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
 * A sending domain, as a lower-case A-label name. Several teams can add the same name, but only one team at a
 * time can have it verified. The built-in domain is verified for all teams.
 */
export const domains = pgTable(
  "domains",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: ofTeam(),
    name: c.text().notNull(),
    status: c.text({ enum: DOMAIN_STATUSES }).notNull().default("not_started"),
    /** Set if the operator verified the domain manually. DNS checks do not change its status then. */
    declaredVerifiedAt: instant(),
    /** Label of the return path below the domain. */
    returnPathLabel: c.text().notNull().default("send"),
    /**
     * When the MX and SPF records of this return path were in DNS. Email that was accepted in one of these
     * periods has it in every attempt (`services/domains/return-path.ts`).
     */
    returnPathPeriods: periods().notNull().default("{}"),
    /** Random token for this name and team. Its DNS record proves that the team may use the name. */
    ownershipToken: c.text(),
    region: c.text().notNull().default("us-east-1"),
    tls: c.text({ enum: DOMAIN_TLS }).notNull().default("opportunistic"),
    openTracking: c.boolean().notNull().default(false),
    clickTracking: c.boolean().notNull().default(false),
    trackingSubdomain: c.text(),
    /** The host of links in new email: that of `trackingSubdomain`, once it serves them. Null: ours. */
    trackingHost: c.text(),
    sending: c.boolean().notNull().default(true),
    receiving: c.boolean().notNull().default(false),
    /** Daily cap in recipients per day (UTC); null for no cap. */
    dailyCap: c.integer(),
    /**
     * Warm-up: its first day (UTC) with the number of recipients, the growth per day in percent, and the
     * target.
     */
    warmUpFrom: c.date({ mode: "string" }),
    warmUpFirst: c.integer(),
    warmUpGrowth: c.integer(),
    /**
     * The warm-up ends on the day that would allow this many recipients; null: the daily cap is the target.
     */
    warmUpTarget: c.integer(),
    /** As of the team, for email of this domain. Null: that of the team; empty: no copies. */
    bounceCopiesTo: c.text(),
    replyCopiesTo: c.text(),
    checks: c.jsonb().$type<RecordCheck[]>().notNull().default([]),
    lastCheckedAt: instant(),
    nextCheckAt: instant(),
    /**
     * Since when checks fail: for a verified domain since the first failed check, for any other since
     * verification was requested. A single failed check does not change a verified domain.
     */
    failingSince: instant(),
    /** Number of definite check failures since then. */
    failedChecks: c.integer().notNull().default(0),
    /** When the domain is deleted if it is not verified; null once it was verified. */
    expiresAt: instant(),
    createdAt: now(),
  }),
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
 * The DKIM keys of a domain. The acceptance time of an email determines which keys sign it, so they are the
 * same in each attempt. A new key signs only after its record was found in DNS. After its successor starts to
 * sign, its record must stay published while emails signed with it can be in progress.
 */
export const dkimKeys = pgTable(
  "dkim_keys",
  (c) => ({
    teamId: c.uuid().notNull(),
    id: c.uuid().notNull(),
    domainId: c.uuid().notNull(),
    algorithm: c.text({ enum: ["rsa", "ed25519"] }).notNull(),
    /** DNS label below `_domainkey`. */
    selector: c.text().notNull(),
    /** PKCS #8 PEM, encrypted. */
    privateKey: c.text().notNull(),
    /** Base64 of the public key, as published in `p=`. */
    publicKey: c.text().notNull(),
    createdAt: now(),
    /** It signs emails accepted from this time on; null while it awaits DNS. */
    signsFrom: instant(),
    /** It signs emails accepted before this time; null while it has no successor. */
    signsUntil: instant(),
    /** The earliest time at which its record may be removed from DNS. */
    keptUntil: instant(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    unique("dkim_keys_selector_key").on(t.teamId, t.domainId, t.selector),
    childOf([t.teamId, t.domainId], [domains.teamId, domains.id]),
  ],
);

/**
 * The hosts that a domain's tracked links use or have used. Each is kept with its domain, because email that
 * was sent has its links. `seenAt`: when its CNAME record was first found to lead here. Null: never; such a
 * host is neither served nor kept when the setting changes.
 */
export const trackingHosts = pgTable(
  "tracking_hosts",
  (c) => ({
    teamId: c.uuid().notNull(),
    domainId: c.uuid().notNull(),
    host: c.text().notNull(),
    createdAt: now(),
    seenAt: instant(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.domainId, t.host] }),
    index("tracking_hosts_host_idx").on(t.host),
    childOf([t.teamId, t.domainId], [domains.teamId, domains.id]),
  ],
);

/** Aggregate reports of DMARC (RFC 9990) and of TLS (RFC 8460). */
export const REPORT_KINDS = ["dmarc", "tls"] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

/** The aggregate reports about a domain, so that each counts once, and of whom the latest is. */
export const domainReports = pgTable(
  "domain_reports",
  (c) => ({
    teamId: c.uuid().notNull(),
    domainId: c.uuid().notNull(),
    kind: c.text({ enum: REPORT_KINDS }).notNull(),
    /** The domain or the name of the receiver that sent it. */
    reporter: c.text().notNull(),
    /** A hash of the id that the reporter chose. */
    reportHash: c.text().notNull(),
    endsAt: instant().notNull(),
    receivedAt: now(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.domainId, t.kind, t.reporter, t.reportHash] }),
    index("domain_reports_received_idx").on(t.receivedAt),
    childOf([t.teamId, t.domainId], [domains.teamId, domains.id]),
  ],
);

/** What aggregate reports say about a domain: counts by day (UTC), source, reporter and result. */
export const domainReportCounts = pgTable(
  "domain_report_counts",
  (c) => ({
    teamId: c.uuid().notNull(),
    domainId: c.uuid().notNull(),
    kind: c.text({ enum: REPORT_KINDS }).notNull(),
    /** DMARC: the IP address of the sender. TLS: the MX host. Empty: not known, or beyond the limit. */
    source: c.text().notNull(),
    day: c.date({ mode: "string" }).notNull(),
    reporter: c.text().notNull(),
    /** DMARC: the domain that DKIM or SPF authenticated. TLS: the type of failure. Empty if there is none. */
    detail: c.text().notNull(),
    /** DMARC: this installation sent it, by the address or by the signature. */
    isOurs: c.boolean().notNull(),
    /** DMARC: the domain in From is authenticated. TLS: the session was encrypted as required. */
    isAligned: c.boolean().notNull(),
    /** Messages, or sessions. */
    count: c.bigint({ mode: "number" }).notNull(),
  }),
  (t) => [
    primaryKey({
      // The name that PostgreSQL would derive is longer than its limit.
      name: "domain_report_counts_pk",
      columns: [t.teamId, t.domainId, t.kind, t.source, t.day, t.reporter, t.detail, t.isOurs, t.isAligned],
    }),
    index("domain_report_counts_day_idx").on(t.day),
    childOf([t.teamId, t.domainId], [domains.teamId, domains.id]),
  ],
);
