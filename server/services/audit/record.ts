import { and, desc, eq, gt, sql } from "drizzle-orm";
import type { TransactionSql } from "postgres";
import type { Db } from "#db/client";
import { firstIdAt } from "#db/partitions";
import { apiKeys } from "#db/schema/api-keys";
import { type AuditDetail, auditLog } from "#db/schema/audit";
import { users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import type { AuditAction } from "./actions";

const nameCharsMax = 320;
/** Automatic saves within this time are one edit. */
const sameEditMs = 600_000;

export type AuditEntry = {
  action: AuditAction;
  /** The object of the action, with its current name. */
  subject?: { id: string; name: string | null };
  /** What changed: never a secret, never message content. */
  detail?: AuditDetail;
  /** How much a command changed, by what is counted; zeros are not stored. */
  counts?: Record<string, number>;
  /** The command of which this is a part. Its counts are added to the entry of the parts before. */
  command?: Command;
};

/**
 * A command that runs in parts, in one call or in several that pass it on. `entryId` is its entry in the log,
 * null until a part changed something; recording sets it. An entry of another actor, target or detail, or one
 * older than an hour, is not added to: the part has a new one.
 */
export type Command = { entryId: string | null };

/** The part of a context that the log records. */
type Author = Pick<Ctx, "teamId" | "actor" | "requestId">;

/**
 * Records who changed what. `tx` is the transaction of the change, so both commit together. The actor's
 * current name is stored, so the log stays readable after the key or the user is deleted.
 */
export async function recordAudit(tx: Db, ctx: Author, entry: AuditEntry): Promise<void> {
  const { actorId, ...row } = rowOf(ctx, entry);
  const part = partOf(ctx, entry);
  if (part && (await tx.execute(addToEntry(sql, part))).length > 0) return;
  const names = {
    user: sql<string>`(select email from ${users} where id = ${actorId})`,
    key: sql<string>`(select name from ${apiKeys} where id = ${actorId})`,
    operator: null,
    system: null,
  };
  await tx.insert(auditLog).values({ ...row, actorId, actorName: names[row.actor] });
  if (entry.command) entry.command.entryId = row.id;
}

/**
 * Whether the newest entry of the subject is at most 10 minutes old and has the same actor, action and
 * version, and all changed fields of this entry. An editor that saves every few seconds would otherwise fill
 * the log.
 */
export async function isJustRecorded(
  tx: Db,
  ctx: Author & Pick<Ctx, "clock">,
  entry: AuditEntry,
): Promise<boolean> {
  const { actorId, action, subjectId, detail } = rowOf(ctx, entry);
  if (actorId === null || subjectId === null) return false;
  const [last] = await tx
    .select({ actorId: auditLog.actorId, action: auditLog.action, detail: auditLog.detail })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.teamId, ctx.teamId),
        // By the ids of the period, so that the index finds its rows.
        gt(auditLog.id, firstIdAt(ctx.clock().getTime() - sameEditMs)),
        eq(auditLog.subjectId, subjectId),
        gt(auditLog.createdAt, sql`now() - ${sameEditMs} * interval '1 ms'`),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(1);
  if (last?.actorId !== actorId || last.action !== action) return false;
  const changed = (of: AuditDetail): string[] => (Array.isArray(of.changed) ? of.changed : []);
  return (
    last.detail.version === detail.version &&
    changed(detail).every((field) => changed(last.detail).includes(field))
  );
}

/** The same in a transaction of the hot connection, which bypasses Drizzle. */
export async function recordAuditHot(tx: TransactionSql, ctx: Author, entry: AuditEntry): Promise<void> {
  const { teamId, id, actor, actorId, action, subjectId, subjectName, detail, requestId } = rowOf(ctx, entry);
  const part = partOf(ctx, entry);
  if (part && (await addToEntry(tx, part)).length > 0) return;
  await tx`
    insert into audit_log (team_id, id, actor, actor_id, actor_name, action, subject_id, subject_name, detail, request_id)
    values (${teamId}, ${id}, ${actor}, ${actorId},
      case ${actor} when 'user' then (select email from users where id = ${actorId})
        when 'key' then (select name from api_keys where id = ${actorId}) end,
      ${action}, ${subjectId}, ${subjectName}, ${JSON.stringify(detail)}::text::jsonb, ${requestId})`;
  if (entry.command) entry.command.entryId = id;
}

const rowOf = (
  { teamId, actor, requestId }: Author,
  { action, subject, detail = {}, counts = {} }: AuditEntry,
) => ({
  teamId,
  id: newId(),
  actor: actor.kind,
  actorId: actor.kind === "user" ? actor.userId : actor.kind === "key" ? actor.keyId : null,
  action,
  subjectId: subject?.id ?? null,
  subjectName: subject?.name?.slice(0, nameCharsMax) ?? null,
  detail: { ...detail, ...withoutZeros(counts) },
  requestId,
});

const withoutZeros = (counts: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));

type Part = { entryId: string; row: ReturnType<typeof rowOf>; added: string };

/**
 * What a later part of a command adds to the entry of the parts before, and what both must have in common;
 * null if there is no such entry.
 */
function partOf(ctx: Author, entry: AuditEntry): Part | null {
  const { detail = {}, counts = {}, command } = entry;
  if (!command?.entryId) return null;
  const added = { shared: detail, names: Object.keys(counts), counts: withoutZeros(counts) };
  return { entryId: command.entryId, row: rowOf(ctx, entry), added: JSON.stringify(added) };
}

/** The statement that adds to the entry; returns its id. `query` is the template tag of the connection. */
const addToEntry = <Query>(
  query: (text: TemplateStringsArray, ...values: (string | null)[]) => Query,
  { entryId, row, added }: Part,
): Query => query`
  with given as (select ${added}::text::jsonb as part)
  update audit_log l set detail = l.detail || (
    select jsonb_object_agg(c.key, coalesce((l.detail->>c.key)::bigint, 0) + c.value::bigint)
    from jsonb_each_text(given.part->'counts') c)
  from given
  where l.team_id = ${row.teamId} and l.id = ${entryId}::uuid and l.action = ${row.action}
    and l.actor = ${row.actor} and l.actor_id is not distinct from ${row.actorId}::uuid
    and l.subject_id is not distinct from ${row.subjectId}
    and l.created_at > now() - interval '1 hour'
    and l.detail - array(select jsonb_array_elements_text(given.part->'names')) = given.part->'shared'
  returning l.id`;
