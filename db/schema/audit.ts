import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { teams } from "./teams";

export const AUDIT_ACTORS = ["user", "key", "operator"] as const;
export type AuditActor = (typeof AUDIT_ACTORS)[number];

/** What of a thing changed: never a secret, never a message. */
export type AuditDetail = Record<string, string | number | boolean | null | string[]>;

/** Who changed what in a team, written in the transaction of the change. Rows are never changed. */
export const auditLog = pgTable(
  "audit_log",
  {
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    id: uuid().notNull(),
    actor: text({ enum: AUDIT_ACTORS }).notNull(),
    /** The user's or the key's id; null for the operator at the command line. */
    actorId: uuid(),
    /** The user's address or the key's name, as it was then. */
    actorName: text(),
    /** `key.revoked`: what happened to what kind of thing. */
    action: text().notNull(),
    subjectId: text(),
    /** What it was called then. */
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
