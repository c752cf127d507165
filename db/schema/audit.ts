import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { now } from "../columns";
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
