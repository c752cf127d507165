import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { teams } from "./teams";

export const AUDIT_ACTORS = ["user", "key", "operator", "system"] as const;
export type AuditActor = (typeof AUDIT_ACTORS)[number];

/** The changed fields of a target. Never contains secrets or message content. */
export type AuditDetail = Record<string, string | number | boolean | null | string[]>;

/** The audit log of a team. A row is written in the transaction of the change and never updated. */
export const auditLog = pgTable(
  "audit_log",
  {
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    id: uuid().notNull(),
    actor: text({ enum: AUDIT_ACTORS }).notNull(),
    /** The id of the user or key. Null for the operator on the command line and for the service itself. */
    actorId: uuid(),
    /** The user's address or the key's name at the time of the change. */
    actorName: text(),
    /** Kind of target and action, such as `key.revoked`. */
    action: text().notNull(),
    subjectId: text(),
    /** The target's name at the time of the change. */
    subjectName: text(),
    detail: jsonb().$type<AuditDetail>().notNull().default({}),
    requestId: text().notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().default(sql`now()`),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    index("audit_log_actor_idx").on(t.teamId, t.actorId, t.id),
    index("audit_log_action_idx").on(t.teamId, t.action, t.id),
  ],
);
