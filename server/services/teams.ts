import { and, asc, eq, sql } from "drizzle-orm";
import type { AuditDetail } from "#db/schema/audit";
import { sendingDays } from "#db/schema/deliveries";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { memberships, type Role, retention, teams, type UnknownPolicy } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId, newId } from "#server/platform/ids";
import { hasPermission } from "#server/shared/roles";
import type { Team, TeamRules } from "#server/shared/wire/people/team";
import { recordAudit } from "./audit/record";
import { lockUser } from "./people/lock";
import { NEW_TEAM_RETENTION } from "./retention";

/** The member who creates a team in the console and becomes its owner. */
export type Founder = { userId: string; requestId: string };

/**
 * Creates a team with its row of the built-in domain, which is verified from the start, and the default
 * retention. The founder becomes the owner; without a founder, the operator creates the team.
 */
export async function createTeam(deps: Deps, input: { name: string; founder?: Founder }): Promise<Team> {
  const { name, founder } = input;
  const team = { id: newId(), name };
  await deps.db.transaction(async (tx) => {
    await tx.insert(teams).values(team);
    await tx.insert(retention).values({ teamId: team.id, ...NEW_TEAM_RETENTION });
    await tx
      .insert(domains)
      .values({ id: newId(), teamId: team.id, name: BUILT_IN_DOMAIN, status: "verified" });
    if (founder)
      await tx.insert(memberships).values({ teamId: team.id, userId: founder.userId, role: "owner" });
    const actor = founder ? { kind: "user" as const, userId: founder.userId } : { kind: "operator" as const };
    const ctx: Ctx = { ...deps, teamId: team.id, actor, requestId: founder?.requestId ?? newId() };
    await recordAudit(tx, ctx, { action: "team.created", subject: team });
  });
  return team;
}

/** Maximum number of teams that one user may own. */
const ownedMax = 50;

/**
 * Creates a team that the caller owns. Requires that the caller is an owner or admin of another team, so a
 * member with fewer permissions cannot start to send. AppError `forbidden`, or `conflict` if the caller owns
 * `ownedMax` teams already.
 */
export async function createOwnTeam(
  deps: Deps,
  input: { name: string; founder: Founder; memberships: readonly { role: Role }[] },
): Promise<Team> {
  if (!input.memberships.some(({ role }) => hasPermission(role, "team:write")))
    throw new AppError("forbidden", "Only owners and admins of a team can create another team.");
  const { name, founder } = input;
  return deps.db.transaction(async (tx) => {
    // Concurrent calls of one user wait for each other, so two of them never both use the last place.
    await lockUser(tx, founder.userId);
    const owned = and(eq(memberships.userId, founder.userId), eq(memberships.role, "owner"));
    if ((await tx.$count(memberships, owned)) >= ownedMax)
      throw new AppError("conflict", `You own ${ownedMax} teams, which is the maximum.`);
    return createTeam({ ...deps, db: tx }, { name, founder });
  });
}

/** All teams, oldest first. */
export async function listTeams(deps: Deps): Promise<Team[]> {
  return deps.db.select({ id: teams.id, name: teams.name }).from(teams).orderBy(asc(teams.id));
}

export type TeamChange = {
  name?: string | undefined;
  /**
   * Policy for unknown outcomes: `retry` sends the email again, so it may be delivered twice; `hold` waits
   * until a member decides.
   */
  unknown?: UnknownPolicy | undefined;
  /** Daily cap (UTC) in recipients, over all domains; null: no limit. */
  dailyCap?: number | null | undefined;
  /** Checked by `setCopies`. */
  copies?: CopyMailboxes | undefined;
};

/** The mailboxes that get copies of bounces and of people's replies; null: no copies. */
export type CopyMailboxes = { bounceCopiesTo: string | null; replyCopiesTo: string | null };

/** Changes the given settings that differ, and records the change in the audit log. */
export async function updateTeam(ctx: Ctx, change: TeamChange): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select({
        name: teams.name,
        unknown: teams.unknownPolicy,
        dailyCap: teams.dailyCap,
        bounceCopiesTo: teams.bounceCopiesTo,
        replyCopiesTo: teams.replyCopiesTo,
      })
      .from(teams)
      .where(eq(teams.id, ctx.teamId))
      .for("no key update");
    if (!before) throw notFound("Team");
    const { name = before.name, unknown = before.unknown, dailyCap = before.dailyCap } = change;
    const { bounceCopiesTo, replyCopiesTo } = change.copies ?? before;
    const detail: AuditDetail = {
      ...(name === before.name ? {} : { name, name_before: before.name }),
      ...(unknown === before.unknown ? {} : { unknown, unknown_before: before.unknown }),
      ...(dailyCap === before.dailyCap ? {} : { daily_cap: dailyCap, daily_cap_before: before.dailyCap }),
      ...(bounceCopiesTo === before.bounceCopiesTo ? {} : { bounce_copies_to: bounceCopiesTo }),
      ...(replyCopiesTo === before.replyCopiesTo ? {} : { reply_copies_to: replyCopiesTo }),
    };
    if (Object.keys(detail).length === 0) return;
    await tx
      .update(teams)
      .set({ name, unknownPolicy: unknown, dailyCap, bounceCopiesTo, replyCopiesTo })
      .where(eq(teams.id, ctx.teamId));
    await recordAudit(tx, ctx, { action: "team.changed", subject: { id: ctx.teamId, name }, detail });
  });
}

/** Joins what a team with a cap has handed over today (UTC). */
export const isTodayOfTeam = and(
  eq(sendingDays.teamId, teams.id),
  eq(sendingDays.domain, ""),
  eq(sendingDays.day, sql`(now() at time zone 'utc')::date`),
);

/**
 * A team's sending rules, and the number of recipients handed over today (UTC), which is counted only if
 * there is a cap.
 */
export async function getTeamRules({ db, teamId }: Pick<Ctx, "db" | "teamId">): Promise<TeamRules> {
  const [row] = await db
    .select({
      id: teams.id,
      name: teams.name,
      unknown: teams.unknownPolicy,
      dailyCap: teams.dailyCap,
      handedOverToday: sql<number>`coalesce(${sendingDays.handedOver}, 0)`,
    })
    .from(teams)
    .leftJoin(sendingDays, isTodayOfTeam)
    .where(eq(teams.id, teamId));
  if (!row) throw notFound("Team");
  return row;
}

/** Finds a team by id, or by name if the name is unique; without either, the oldest team. */
export async function findTeam(deps: Deps, idOrName?: string): Promise<Team> {
  const found = await deps.db
    .select({ id: teams.id, name: teams.name })
    .from(teams)
    .where(
      idOrName === undefined ? undefined : isId(idOrName) ? eq(teams.id, idOrName) : eq(teams.name, idOrName),
    )
    .orderBy(asc(teams.id))
    .limit(2);
  const [team] = found;
  if (!team)
    throw new AppError(
      "not_found",
      idOrName ? `Team "${idOrName}" not found.` : "There are no teams yet. Run: team create NAME",
    );
  if (idOrName !== undefined && found.length > 1)
    throw new AppError("conflict", `Several teams are named "${idOrName}". Use the team's id.`);
  return team;
}
