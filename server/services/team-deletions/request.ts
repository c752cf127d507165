import { and, desc, eq, inArray, isNull, sql } from "drizzle-orm";
import { teamDeletions } from "#db/schema/audit";
import { users } from "#db/schema/teams";
import type { Actor, Ctx, Deps } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { recordAudit } from "../audit/record";
import { lockTeam } from "../lock-team";
import { canNotify, notifyOfDeletion } from "./notify";

/** Days between the request and the deletion, in which it can be canceled. */
export const deletionDays = { default: 7, min: 1, max: 90 } as const;
const listMax = 200;

export type TeamDeletion = typeof teamDeletions.$inferSelect;

/**
 * Requests the deletion of the team after a waiting period. From now on its API keys are rejected, its email
 * is not sent and its webhooks get no events. Pauses of the team stay as they are. Owners and admins get an
 * email. `confirm` is the team's name. AppError `invalid` for another name or period, `conflict` if it is
 * already requested.
 */
export async function requestTeamDeletion(
  ctx: Ctx,
  { confirm, days = deletionDays.default }: { confirm: string; days?: number },
): Promise<TeamDeletion> {
  if (!Number.isInteger(days) || days < deletionDays.min || days > deletionDays.max)
    throw new AppError("invalid", `The waiting period is ${deletionDays.min} to ${deletionDays.max} days.`);
  const isNotified = await canNotify(ctx);
  const deletion = await ctx.db.transaction(async (tx) => {
    const team = await lockTeam(tx, ctx.teamId);
    if (confirm.trim() !== team.name)
      throw new AppError("invalid", `To confirm, enter the name of the team: ${team.name}`);
    if (await findDeletion({ db: tx }, ctx.teamId))
      throw new AppError("conflict", "The deletion of this team is already requested.");
    const [created] = await tx
      .insert(teamDeletions)
      .values({
        id: newId(),
        teamId: ctx.teamId,
        teamName: team.name,
        actor: ctx.actor.kind,
        actorName: nameOf(ctx.actor),
        deletesAt: sql`now() + ${days} * interval '1 day'`,
      })
      .returning();
    if (!created) throw notFound("Team");
    await recordAudit(tx, ctx, {
      action: "team.deletion_requested",
      subject: { id: ctx.teamId, name: team.name },
      detail: { deletes_at: created.deletesAt.toISOString() },
    });
    if (isNotified)
      await notifyOfDeletion(tx, ctx, { event: "requested", deletion: created, by: created.actorName });
    return created;
  });
  ctx.clearKeyCache();
  ctx.wake();
  ctx.log.warn("team.deletion_requested", {
    teamId: ctx.teamId,
    deletesAt: deletion.deletesAt.toISOString(),
  });
  return deletion;
}

/**
 * Cancels the deletion during its waiting period: keys and webhooks work again, and email is sent unless the
 * operator paused the team. 404 if none is requested, 409 once it has started.
 */
export async function cancelTeamDeletion(ctx: Ctx): Promise<TeamDeletion> {
  const isNotified = await canNotify(ctx);
  const canceled = await ctx.db.transaction(async (tx) => {
    const team = await lockTeam(tx, ctx.teamId);
    const [row] = await tx
      .update(teamDeletions)
      .set({ canceledAt: sql`now()`, canceledByName: nameOf(ctx.actor) })
      .where(
        and(
          eq(teamDeletions.teamId, ctx.teamId),
          isNull(teamDeletions.canceledAt),
          isNull(teamDeletions.startedAt),
        ),
      )
      .returning();
    if (!row) {
      if (await findDeletion({ db: tx }, ctx.teamId))
        throw new AppError("conflict", "The deletion of this team has started and cannot be canceled.");
      throw new AppError("not_found", "No deletion of this team is requested.");
    }
    await recordAudit(tx, ctx, {
      action: "team.deletion_canceled",
      subject: { id: ctx.teamId, name: team.name },
    });
    if (isNotified)
      await notifyOfDeletion(tx, ctx, { event: "canceled", deletion: row, by: row.canceledByName });
    return row;
  });
  ctx.clearKeyCache();
  ctx.wake();
  ctx.log.info("team.deletion_canceled", { teamId: ctx.teamId });
  return canceled;
}

/** The requested deletion of a team; null if there is none. */
export async function findDeletion({ db }: Pick<Deps, "db">, teamId: string): Promise<TeamDeletion | null> {
  const [row] = await findDeletions({ db }, [teamId]);
  return row ?? null;
}

/** The requested deletions of some teams. */
export const findDeletions = (
  { db }: Pick<Deps, "db">,
  teamIds: readonly string[],
): Promise<TeamDeletion[]> =>
  db
    .select()
    .from(teamDeletions)
    .where(and(inArray(teamDeletions.teamId, [...teamIds]), isNull(teamDeletions.canceledAt)));

/** All deletions of the installation, newest first, with those that were canceled: the receipts. */
export const listDeletions = ({ db }: Pick<Deps, "db">): Promise<TeamDeletion[]> =>
  db.select().from(teamDeletions).orderBy(desc(teamDeletions.id)).limit(listMax);

/** A deletion for the console and the command line. Times in ISO 8601. */
export const presentDeletion = (row: TeamDeletion) => ({
  id: row.id,
  team_id: row.teamId,
  team_name: row.teamName,
  /** `waiting` can be canceled; `deleting` cannot. */
  status: row.canceledAt ? "canceled" : row.endedAt ? "deleted" : row.startedAt ? "deleting" : "waiting",
  requested_by: row.actorName ?? "operator",
  requested_at: row.requestedAt.toISOString(),
  deletes_at: row.deletesAt.toISOString(),
  canceled_by: row.canceledAt ? (row.canceledByName ?? "operator") : null,
  ended_at: (row.canceledAt ?? row.endedAt)?.toISOString() ?? null,
  counts: row.counts,
  /** Why the last step failed. It is repeated every few minutes. */
  fault: row.fault,
});

export type DeletionView = ReturnType<typeof presentDeletion>;

/** SQL: the address of the user. */
const nameOf = (actor: Actor) =>
  actor.kind === "user" ? sql<string>`(select email from ${users} where id = ${actor.userId})` : null;
