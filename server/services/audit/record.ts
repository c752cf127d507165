import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeys } from "#db/schema/api-keys";
import { type AuditDetail, auditLog } from "#db/schema/audit";
import { users } from "#db/schema/teams";
import type { HotTransaction } from "#db/summary";
import type { Ctx } from "#server/deps";
import { newId } from "#server/ids";
import type { AuditAction } from "./actions";

const nameCharsMax = 320;

export type AuditEntry = {
  action: AuditAction;
  /** What it was done to, with the name it bears at this moment. */
  subject?: { id: string; name: string | null };
  /** What changed: never a secret, never a message. */
  detail?: AuditDetail;
};

/**
 * Writes down who changed what. `tx` is the transaction of the change itself, so that neither stands without the other.
 * The actor's name is kept as it is now: the log must be readable when the key or the person is gone.
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

/** The same in a transaction of the hot connection, which Drizzle does not know. */
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
      return { actor: "operator" as const, actorId: null, actorName: null };
  }
}
