import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { bytea, instant, now } from "../columns";
import { ofTeam, ofUser, teams } from "./teams";

export type AuditActor = "user" | "key" | "operator" | "system";

/** The changed fields of a target. Never contains secrets or message content. */
export type AuditDetail = Record<string, string | number | boolean | null | string[]>;

/**
 * The audit log of a team. A row is written in the transaction of the change. Only later parts of the same
 * command change it: they add to its counts.
 */
export const auditLog = pgTable(
  "audit_log",
  (c) => ({
    teamId: ofTeam(),
    id: c.uuid().notNull(),
    actor: c.text().$type<AuditActor>().notNull(),
    /** The id of the user or key. Null for the operator on the command line and for the service itself. */
    actorId: c.uuid(),
    /** The user's address or the key's name at the time of the change. */
    actorName: c.text(),
    /** Kind of target and action, such as `key.revoked`. */
    action: c.text().notNull(),
    subjectId: c.text(),
    /** The target's name at the time of the change. */
    subjectName: c.text(),
    detail: c.jsonb().$type<AuditDetail>().notNull().default({}),
    requestId: c.text().notNull(),
    createdAt: now(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    index("audit_log_actor_idx").on(t.teamId, t.actorId, t.id),
    index("audit_log_action_idx").on(t.teamId, t.action, t.id),
  ],
);

export const BACKUP_STATUSES = ["running", "succeeded", "failed"] as const;

/** Backups of the installation: the scheduled ones, and completed ones of the command line. */
export const backups = pgTable(
  "backups",
  (c) => ({
    id: c.uuid().primaryKey(),
    isScheduled: c.boolean().notNull(),
    status: c.text({ enum: BACKUP_STATUSES }).notNull(),
    /** The folder. */
    location: c.text().notNull(),
    /** The name of the file in it. */
    name: c.text(),
    sizeBytes: c.bigint({ mode: "number" }),
    /** Whether it is encrypted and contains the installation's secret. */
    hasSecret: c.boolean(),
    /** Why it failed, or why old backups could not be deleted, for the operator. */
    fault: c.text(),
    startedAt: now(),
    /** Updated while it runs. A running backup with an old one belongs to a process that has exited. */
    beatAt: now(),
    endedAt: instant(),
  }),
  (t) => [index("backups_age_idx").on(t.startedAt)],
);

/** The backups that were restored into this database. */
export const restores = pgTable("restores", (c) => ({
  id: c.uuid().primaryKey(),
  /** The moment of the backup. */
  takenAt: instant().notNull(),
  /** The release that made the backup. */
  release: c.text().notNull(),
  /** The number of deliveries that were held. */
  held: c.integer().notNull(),
  restoredAt: now(),
}));

/**
 * The alerts of teams and, without a team, of the installation: one row per kind and subject. A row is
 * pending until `opened_at`, open until `resolved_at`, and opens again if the condition returns.
 */
export const alerts = pgTable(
  "alerts",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: c.uuid().references(() => teams.id, { onDelete: "cascade" }),
    kind: c.text().notNull(),
    /**
     * What it is about: the name of a domain, or the id of an endpoint, relay or team; empty for the whole
     * scope.
     */
    subject: c.text().notNull(),
    /** The name of the subject for people. */
    name: c.text().notNull(),
    message: c.text().notNull(),
    /** Since when the condition holds without a break. */
    firstSeenAt: now(),
    lastSeenAt: now(),
    /** Since when the condition no longer holds; null while it does. */
    clearedAt: instant(),
    openedAt: instant(),
    resolvedAt: instant(),
    /** The last notification: of its opening, its end, or a reminder. */
    notifiedAt: instant(),
    /** Whether the last notification was that it is open. */
    isAnnounced: c.boolean().notNull().default(false),
  }),
  (t) => [unique("alerts_subject_key").on(t.teamId, t.kind, t.subject).nullsNotDistinct()],
);

/** Notifications of alerts that wait to be sent to a user, together in one email. */
export const alertNotices = pgTable(
  "alert_notices",
  (c) => ({
    id: c.uuid().primaryKey(),
    userId: ofUser(),
    alertId: c
      .uuid()
      .notNull()
      .references(() => alerts.id, { onDelete: "cascade" }),
    event: c.text({ enum: ["opened", "reminder", "resolved"] }).notNull(),
    createdAt: now(),
  }),
  (t) => [index("alert_notices_user_idx").on(t.userId), index("alert_notices_alert_idx").on(t.alertId)],
);

/** Requests to the alert webhook of the installation that have not succeeded yet. */
export const alertCalls = pgTable(
  "alert_calls",
  (c) => ({
    id: c.uuid().primaryKey(),
    payload: c.text().notNull(),
    attempts: c.integer().notNull().default(0),
    /** The next attempt. While one is in progress, the end of its lease. */
    dueAt: now(),
    createdAt: now(),
  }),
  (t) => [index("alert_calls_due_idx").on(t.dueAt)],
);

/** The domain of all addresses that replace erased ones. No mail server has it (RFC 2606). */
export const ERASED_DOMAIN = "erased.invalid";
/**
 * Replaces an erased address in stored records. It is the same for all people, so that it identifies none of
 * them.
 */
export const ERASED_ADDRESS = `erased@${ERASED_DOMAIN}`;

/**
 * The key of the hashes of erased addresses, in one row from the first erasure on. It is in the database,
 * because a suppressed address must stay suppressed even if the installation's secret is lost.
 */
export const erasureKeys = pgTable(
  "erasure_keys",
  (c) => ({
    id: c.smallint().primaryKey().default(1),
    key: bytea().notNull(),
    createdAt: now(),
  }),
  (t) => [check("erasure_keys_single", sql`${t.id} = 1`)],
);

export const ERASURE_STATUSES = ["requested", "running", "done"] as const;

/** Erasures of addresses: the requests, the progress of the worker, and what was erased. */
export const erasures = pgTable(
  "erasures",
  (c) => ({
    teamId: ofTeam(),
    id: c.uuid().notNull(),
    /** In lower case; null once the erasure is done. */
    address: c.text(),
    /** Identifies the address to those who have it already, as in the suppression list. */
    addressHash: c.text().notNull(),
    /** Whether nothing is sent to the address any longer, even if it was not suppressed before. */
    suppresses: c.boolean().notNull(),
    status: c.text({ enum: ERASURE_STATUSES }).notNull().default("requested"),
    actor: c.text().$type<AuditActor>().notNull(),
    actorId: c.uuid(),
    requestId: c.text().notNull(),
    /** The worker reads everything once, and in later passes what was added or had to wait. */
    pass: c.integer().notNull().default(1),
    passStartedAt: instant(),
    /** What was created before this id is complete since the pass before. */
    floor: c.uuid(),
    /** Where this pass is, and the last key that was read there; null at its start. */
    place: c.text().notNull().default("recipients"),
    after: c.text(),
    /**
     * Emails that wait for a result or for other recipients: all, the first ones, and the first of this pass
     * that is not among them.
     */
    waiting: c.integer().notNull().default(0),
    waitingIds: c.uuid().array().notNull().default([]),
    firstWaiting: c.uuid(),
    /** Idempotency keys with the address that have not expired. */
    waitingKeys: c.integer().notNull().default(0),
    /** Why the last step failed, without personal data; null after a step that succeeded. */
    fault: c.text(),
    /** How often steps of this pass were made smaller, because one took too long. */
    halvings: c.smallint().notNull().default(0),
    /** Changed rows by table. */
    counts: c.jsonb().$type<Record<string, number>>().notNull().default({}),
    /** When a worker may claim it: it is due, or the lease of the worker before has expired. */
    nextAt: now(),
    leaseToken: c.uuid(),
    requestedAt: now(),
    doneAt: instant(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    index("erasures_due_idx").on(t.nextAt).where(sql`${t.status} <> 'done'`),
    // One erasure of an address at a time.
    uniqueIndex("erasures_open_key").on(t.teamId, t.addressHash).where(sql`${t.status} <> 'done'`),
    check("erasures_done", sql`(${t.status} = 'done') = (${t.address} is null)`),
  ],
);

/**
 * Requested deletions of teams, for the installation: the receipts remain after the team and its audit log
 * are deleted. The team is not referenced for that reason.
 */
export const teamDeletions = pgTable(
  "team_deletions",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: c.uuid().notNull(),
    teamName: c.text().notNull(),
    actor: c.text().$type<AuditActor>().notNull(),
    /** The user's address at the time of the request; null for the operator on the command line. */
    actorName: c.text(),
    requestedAt: now(),
    /** From this time on a worker deletes everything of the team. */
    deletesAt: instant().notNull(),
    canceledAt: instant(),
    canceledByName: c.text(),
    /** After this time it cannot be canceled. */
    startedAt: instant(),
    endedAt: instant(),
    /** Deleted rows by table. */
    counts: c.jsonb().$type<Record<string, number>>().notNull().default({}),
    /** When the next step may be made: some minutes after a fault. */
    nextAt: now(),
    /** Why the last step failed, for the operator; null after a step that succeeded. */
    fault: c.text(),
  }),
  (t) => [
    // At most one for a team.
    uniqueIndex("team_deletions_open_key").on(t.teamId).where(sql`${t.canceledAt} is null`),
    index("team_deletions_due_idx")
      .on(t.deletesAt)
      .where(sql`${t.canceledAt} is null and ${t.endedAt} is null`),
  ],
);
