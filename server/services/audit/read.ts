import { and, eq, gte, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type AuditActor, auditLog } from "#db/schema/audit";
import type { Ctx } from "#server/deps";
import { firstIdAt } from "#server/platform/ids";
import { type Page, type PageQuery, pageById, readAllById } from "../paging";
import { AUDIT_ACTIONS, type AuditAction } from "./actions";

export type AuditEntryRow = typeof auditLog.$inferSelect;

export type AuditFilter = {
  /** The id of a user or a key, or one of `NAMELESS_ACTORS`. */
  actor?: string;
  /** One action, such as `key.revoked`, or all actions of a noun, such as `key`. */
  action?: string;
  /** The range of time; `until` is exclusive. */
  since?: Date;
  until?: Date;
};

/** Values of `AuditFilter.actor` for actors without an id: the operator (CLI) and the service itself. */
export const NAMELESS_ACTORS = ["operator", "system"] as const;

/** The audit log of the team, newest first. */
export const listAudit = (ctx: Ctx, query: PageQuery & AuditFilter): Promise<Page<AuditEntryRow>> =>
  pageById(ctx, auditLog, query, listingOf(ctx, query));

/** The complete audit log, newest first, in batches. */
export const listAllAudit = (ctx: Ctx, filter: AuditFilter): AsyncGenerator<AuditEntryRow[]> =>
  readAllById(ctx, auditLog, listingOf(ctx, filter));

const listingOf = ({ db }: Ctx, filter: AuditFilter) => ({
  select: () => db.select().from(auditLog).$dynamic(),
  where: and(...conditionsOf(filter)),
});

// Ids are ordered by time, so a time range is a range of the primary key.
function conditionsOf({ actor, action, since, until }: AuditFilter): (SQL | undefined)[] {
  const nameless = NAMELESS_ACTORS.find((each) => each === actor);
  return [
    nameless
      ? and(isNull(auditLog.actorId), eq(auditLog.actor, nameless))
      : actor === undefined
        ? undefined
        : eq(auditLog.actorId, actor),
    action === undefined ? undefined : inArray(auditLog.action, actionsOf(action)),
    since && gte(auditLog.id, firstIdAt(since)),
    until && lt(auditLog.id, firstIdAt(until)),
  ];
}

/** The actions that match a filter: one action, or all that start with a noun. */
export function actionsOf(filter: string): AuditAction[] {
  return (Object.keys(AUDIT_ACTIONS) as AuditAction[]).filter(
    (action) => action === filter || action.startsWith(`${filter}.`),
  );
}

export type KnownActor = { id: string; actor: AuditActor; name: string | null };

/** Maximum number of actors in the filter. */
const actorsMax = 200;

/**
 * All actors who changed something in the team, with their last recorded name. A loose index scan: one index
 * step per actor, regardless of the number of entries.
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
