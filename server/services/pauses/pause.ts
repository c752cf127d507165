import { and, desc, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import type { AuditDetail } from "#db/schema/audit";
import { type PauseActor, queuePauses } from "#db/schema/deliveries";
import { teams, users } from "#db/schema/teams";
import type { Actor, Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { recordAudit } from "../audit/record";
import { parseReason } from "./reason";
import { releaseResumed } from "./release";
import { type NamedScope, nameScope, type OperatorCtx, type QueueScope } from "./scope";

const listMax = 200;

/** A pause with the name of its team; `liftedAt` is null while it applies. */
export type Pause = typeof queuePauses.$inferSelect & { teamName: string | null };

/**
 * Pauses sending for a scope: its email is accepted and stays queued, and no worker starts a dialogue for it
 * from a few seconds later on. Dialogues in progress finish. The reason is shown with every email that waits.
 * 404 for an unknown scope, 409 if exactly this scope is paused already, 422 without a reason.
 */
export async function pauseQueue(
  ctx: OperatorCtx,
  input: QueueScope & { reason: string },
): Promise<NamedScope> {
  const scope = await nameScope(ctx, input);
  if (!(await insertPause(ctx, scope, input.reason)))
    throw new AppError("conflict", `Sending is already paused for ${describeScope(scope)}.`);
  return scope;
}

/**
 * Pauses a team unless it is paused already: then its present pause and reason stay. Returns whether it was
 * new.
 */
export async function pauseTeam(
  deps: Deps,
  { teamId, reason, by }: { teamId: string; reason: string; by: Actor },
): Promise<boolean> {
  const scope = await nameScope(deps, { teamId, domain: null });
  return insertPause({ ...deps, actor: by, requestId: newId() }, scope, reason);
}

async function insertPause(ctx: OperatorCtx, scope: NamedScope, given: string): Promise<boolean> {
  const reason = parseReason(given);
  const { teamId, domain } = scope;
  try {
    await ctx.db.transaction(async (tx) => {
      await tx.insert(queuePauses).values({
        id: newId(),
        teamId,
        domain,
        reason,
        actor: kindOf(ctx.actor),
        actorName: nameOf(ctx.actor),
      });
      await recordScopeChange({ ...ctx, db: tx }, "queue.paused", scope, { reason });
    });
  } catch (error) {
    if (isUniqueViolation(error, "queue_pauses_active_key")) return false;
    throw error;
  }
  ctx.log.warn("queue.paused", { teamId, domain, by: kindOf(ctx.actor) });
  return true;
}

/**
 * Ends the pause of exactly this scope: what it delayed is due at once. 404 if the scope is not paused. A
 * wider pause, of the team or the installation, still applies, and so does a requested deletion of the team.
 */
export async function resumeQueue(
  ctx: OperatorCtx,
  { teamId, domain }: QueueScope,
): Promise<NamedScope & { reason: string }> {
  const lifted = await ctx.db.transaction(async (tx) => {
    const [pause] = await tx
      .update(queuePauses)
      .set({
        liftedAt: sql`now()`,
        liftedBy: kindOf(ctx.actor),
        liftedByName: nameOf(ctx.actor),
        releasedAt: domain === null ? sql`now()` : null,
      })
      .where(and(isScope({ teamId, domain }), isNull(queuePauses.liftedAt)))
      .returning();
    if (!pause) throw new AppError("not_found", "Sending is not paused for this scope.");
    const [team] =
      teamId === null ? [] : await tx.select({ name: teams.name }).from(teams).where(eq(teams.id, teamId));
    const teamName = team?.name ?? null;
    const scope = { teamId, domain, teamName, name: domain ?? teamName ?? "installation" };
    await recordScopeChange({ ...ctx, db: tx }, "queue.resumed", scope, {});
    return { ...scope, reason: pause.reason };
  });
  ctx.log.info("queue.resumed", { teamId, domain, by: kindOf(ctx.actor) });
  await releaseResumed(ctx.hot);
  ctx.wake();
  return lifted;
}

/**
 * The pauses that apply now, the widest first, then the newest; with `lifted`, those that ended in the last
 * 90 days.
 */
export const listPauses = (deps: Pick<Deps, "db">, which: "active" | "lifted"): Promise<Pause[]> =>
  deps.db
    .select({ ...getTableColumns(queuePauses), teamName: teams.name })
    .from(queuePauses)
    .leftJoin(teams, eq(teams.id, queuePauses.teamId))
    .where(which === "active" ? isNull(queuePauses.liftedAt) : sql`${queuePauses.liftedAt} is not null`)
    .orderBy(
      ...(which === "active"
        ? [sql`${queuePauses.teamId} is not null`, sql`${queuePauses.domain} is not null`]
        : [desc(queuePauses.liftedAt)]),
      desc(queuePauses.createdAt),
    )
    .limit(listMax);

const isScope = ({ teamId, domain }: QueueScope) =>
  and(
    teamId === null ? isNull(queuePauses.teamId) : eq(queuePauses.teamId, teamId),
    domain === null ? isNull(queuePauses.domain) : eq(queuePauses.domain, domain),
  );

const ACTORS = { user: "user", key: "user", operator: "operator", system: "alert" } as const;
const kindOf = ({ kind }: Actor): PauseActor => ACTORS[kind];

/** SQL: the address of the user. */
const nameOf = (actor: Actor) =>
  actor.kind === "user" ? sql<string>`(select email from ${users} where id = ${actor.userId})` : null;

/** Records a change in the audit log of the team. The record of the installation is the list of pauses. */
async function recordScopeChange(
  ctx: OperatorCtx,
  action: "queue.paused" | "queue.resumed",
  { teamId, domain }: NamedScope,
  detail: AuditDetail,
): Promise<void> {
  if (teamId === null) return;
  await recordAudit(
    ctx.db,
    { ...ctx, teamId },
    {
      action,
      detail: { ...(domain !== null && { domain }), ...detail },
    },
  );
}

/** "the installation", "team Sales", "example.com of team Sales". */
export const describeScope = ({ domain, teamName }: Pick<NamedScope, "domain" | "teamName">): string =>
  teamName === null
    ? "the installation"
    : domain === null
      ? `team ${teamName}`
      : `${domain} of team ${teamName}`;
