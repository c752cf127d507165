import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type AuditActor, auditLog } from "#db/schema/audit";
import type { Ctx } from "#server/deps";
import { firstIdAt } from "#server/ids";
import { type Page, type PageQuery, pageOf } from "../paging";
import { AUDIT_ACTIONS, type AuditAction } from "./actions";

export type AuditEntryRow = typeof auditLog.$inferSelect;

export type AuditFilter = {
  /** The id of a person or a key, or the operator at the command line. */
  actor?: string;
  /** `key.revoked`, or everything that happens to keys: `key`. */
  action?: string;
  /** The first moment, and the one at which it ends. */
  since?: Date;
  until?: Date;
};

/** How `AuditFilter.actor` names whoever uses the command line, who has no id. */
export const OPERATOR = "operator";

/** Who changed what in the team, newest first. */
export async function listAudit(ctx: Ctx, query: PageQuery & AuditFilter): Promise<Page<AuditEntryRow>> {
  const wanted = [eq(auditLog.teamId, ctx.teamId), ...conditionsOf(query)];
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(auditLog)
      .where(
        and(
          ...wanted,
          cursor && (cursor.direction === "older" ? lt(auditLog.id, cursor.id) : gt(auditLog.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(auditLog.id) : asc(auditLog.id))
      .limit(limit),
  );
}

// Ids are made in the order of time, so that a span of time is a span of the key.
function conditionsOf({ actor, action, since, until }: AuditFilter): (SQL | undefined)[] {
  return [
    actor === OPERATOR
      ? and(isNull(auditLog.actorId), eq(auditLog.actor, "operator"))
      : actor === undefined
        ? undefined
        : eq(auditLog.actorId, actor),
    action === undefined ? undefined : inArray(auditLog.action, actionsOf(action)),
    since && gte(auditLog.id, firstIdAt(since)),
    until && lt(auditLog.id, firstIdAt(until)),
  ];
}

/** The actions that a filter means: one of them, or all that begin with a noun. */
export function actionsOf(filter: string): AuditAction[] {
  return (Object.keys(AUDIT_ACTIONS) as AuditAction[]).filter(
    (action) => action === filter || action.startsWith(`${filter}.`),
  );
}

export type KnownActor = { id: string; actor: AuditActor; name: string | null };

/** How many are offered to choose from. */
const actorsMax = 200;

/**
 * Everybody who ever changed something in the team, by the last name that they had. Found by leaping through the index, one
 * step for each of them, however much they did.
 */
export async function listActors(ctx: Ctx): Promise<KnownActor[]> {
  const rows = await ctx.db.execute<KnownActor>(sql`
    with recursive leap (id, place) as (
      (select actor_id, 1 from audit_log where team_id = ${ctx.teamId} and actor_id is not null
        order by actor_id limit 1)
      union all
      select (select l.actor_id from audit_log l where l.team_id = ${ctx.teamId} and l.actor_id > leap.id
        order by l.actor_id limit 1), place + 1
      from leap where leap.id is not null and place < ${actorsMax})
    select leap.id, last.actor, last.actor_name as name
    from leap cross join lateral (select l.actor, l.actor_name from audit_log l
      where l.team_id = ${ctx.teamId} and l.actor_id = leap.id order by l.id desc limit 1) last
    where leap.id is not null
    order by last.actor, lower(last.actor_name), leap.id`);
  return [...rows];
}

/** Rows read at once for an export. */
const rowsPerRead = 1_000;

/** The same as a whole, newest first, read only as fast as it is taken. */
export async function* readAudit(ctx: Ctx, filter: AuditFilter): AsyncGenerator<AuditEntryRow[]> {
  for (let after: string | undefined; ; ) {
    const page = await listAudit(ctx, { ...filter, limit: rowsPerRead, ...(after ? { after } : {}) });
    yield page.rows;
    after = page.rows.at(-1)?.id;
    if (!page.hasMore || !after) return;
  }
}
