import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { instant, now } from "../columns";
import { ofTeam } from "./teams";

export type AuditActor = "user" | "key" | "operator" | "system";

/** The changed fields of a target. Never contains secrets or message content. */
export type AuditDetail = Record<string, string | number | boolean | null | string[]>;

/** The audit log of a team. A row is written in the transaction of the change and never updated. */
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
    /** The folder, the bucket or the file, without credentials. */
    location: c.text().notNull(),
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
