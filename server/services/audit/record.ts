import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeys } from "#db/schema/api-keys";
import { type AuditDetail, auditLog } from "#db/schema/audit";
import { users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import type { HotTransaction } from "../emails/status";
import type { AuditAction } from "./actions";

const nameCharsMax = 320;

export type AuditEntry = {
  action: AuditAction;
  /** The object of the action, with its current name. */
  subject?: { id: string; name: string | null };
  /** What changed: never a secret, never message content. */
  detail?: AuditDetail;
};

/**
 * Records who changed what. `tx` is the transaction of the change, so both commit together. The actor's
 * current name is stored, so the log stays readable after the key or the user is deleted.
 */
export async function recordAudit(tx: Db, ctx: Ctx, entry: AuditEntry): Promise<void> {
  const { teamId, actor, requestId } = ctx;
  await tx.insert(auditLog).values({
    teamId,
    id: newId(),
    ...actorOf(actor),
    action: entry.action,
    subjectId: entry.subject?.id ?? null,
    subjectName: entry.subject?.name?.slice(0, nameCharsMax) ?? null,
    detail: entry.detail ?? {},
    requestId,
  });
}

/** The same in a transaction of the hot connection, which bypasses Drizzle. */
export async function recordAuditHot(tx: HotTransaction, ctx: Ctx, entry: AuditEntry): Promise<void> {
  const { teamId, actor, requestId } = ctx;
  const actorId = actor.kind === "user" ? actor.userId : actor.kind === "key" ? actor.keyId : null;
  await tx`
    insert into audit_log (team_id, id, actor, actor_id, actor_name, action, subject_id, subject_name, detail, request_id)
    values (${teamId}, ${newId()}, ${actor.kind}, ${actorId},
      case ${actor.kind} when 'user' then (select email from users where id = ${actorId})
        when 'key' then (select name from api_keys where id = ${actorId}) end,
      ${entry.action}, ${entry.subject?.id ?? null}, ${entry.subject?.name?.slice(0, nameCharsMax) ?? null},
      ${JSON.stringify(entry.detail ?? {})}::text::jsonb, ${requestId})`;
}

function actorOf(actor: Ctx["actor"]) {
  switch (actor.kind) {
    case "user":
      return {
        actor: "user" as const,
        actorId: actor.userId,
        actorName: sql<string>`(select email from ${users} where id = ${actor.userId})`,
      };
    case "key":
      return {
        actor: "key" as const,
        actorId: actor.keyId,
        actorName: sql<string>`(select name from ${apiKeys} where id = ${actor.keyId})`,
      };
    case "operator":
    case "system":
      return { actor: actor.kind, actorId: null, actorName: null };
  }
}
