import { and, asc, eq, sql } from "drizzle-orm";
import type { AuditDetail } from "#db/schema/audit";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { sendingDays } from "#db/schema/sending-days";
import { memberships, type Role, teams, type UnknownPolicy } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { isId, newId } from "#server/ids";
import { mayDo } from "#server/roles";
import { recordAudit } from "./audit/record";

export type Team = { id: string; name: string };

/** Whoever makes a team in the console owns it from the start. */
export type Founder = { userId: string; requestId: string };

/**
 * Makes a team together with its row of the built-in domain, which is verified from the start: for a person, or as the
 * operator.
 */
export async function createTeam(deps: Deps, input: { name: string; founder?: Founder }): Promise<Team> {
  const { name, founder } = input;
  const team = { id: newId(), name };
  await deps.db.transaction(async (tx) => {
    await tx.insert(teams).values(team);
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

/** Teams that one person may own. */
const ownedMax = 50;

/**
 * Makes a team of which the caller is the owner. Open to whoever is owner or admin of one already: nobody who was only let
 * in to look starts sending by themselves. AppError `forbidden`, or `conflict` for whoever owns very many.
 */
export async function foundTeam(
  deps: Deps,
  input: { name: string; founder: Founder; memberships: readonly { role: Role }[] },
): Promise<Team> {
  if (!input.memberships.some(({ role }) => mayDo(role, "team:write")))
    throw new AppError("forbidden", "A team is made by whoever is owner or admin of one already.");
  if (input.memberships.filter(({ role }) => role === "owner").length >= ownedMax)
    throw new AppError("conflict", `You own ${ownedMax} teams, and nobody may own more.`);
  return createTeam(deps, input);
}

/** Every team, the first that was made first. */
export async function listTeams(deps: Deps): Promise<Team[]> {
  return deps.db.select({ id: teams.id, name: teams.name }).from(teams).orderBy(asc(teams.id));
}

export type TeamChange = {
  name?: string;
  /**
   * What becomes of mail whose outcome nobody can know: `retry` sends it again, so that it may be doubled; `hold` waits until
   * somebody settles it.
   */
  unknown?: UnknownPolicy;
  /** To how many recipients a day (UTC) mail is handed over, from all domains together; null: no limit. */
  dailyCap?: number | null;
};

/** Changes what of the team is named and differs, and writes it down. */
export async function changeTeam(ctx: Ctx, change: TeamChange): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select({ name: teams.name, unknown: teams.unknownPolicy, dailyCap: teams.dailyCap })
      .from(teams)
      .where(eq(teams.id, ctx.teamId))
      .for("no key update");
    if (!before) throw notFound("Team");
    const { name = before.name, unknown = before.unknown, dailyCap = before.dailyCap } = change;
    const detail: AuditDetail = {
      ...(name === before.name ? {} : { name, name_before: before.name }),
      ...(unknown === before.unknown ? {} : { unknown, unknown_before: before.unknown }),
      ...(dailyCap === before.dailyCap ? {} : { daily_cap: dailyCap, daily_cap_before: before.dailyCap }),
    };
    if (Object.keys(detail).length === 0) return;
    await tx.update(teams).set({ name, unknownPolicy: unknown, dailyCap }).where(eq(teams.id, ctx.teamId));
    await recordAudit(tx, ctx, { action: "team.changed", subject: { id: ctx.teamId, name }, detail });
  });
}

export type TeamRules = Team & { unknown: UnknownPolicy; dailyCap: number | null; handedOverToday: number };

/** How a team's mail is treated; and where it has a cap, to how many recipients mail was handed over today (UTC). */
export async function readTeamRules({ db, teamId }: Pick<Ctx, "db" | "teamId">): Promise<TeamRules> {
  const [row] = await db
    .select({
      id: teams.id,
      name: teams.name,
      unknown: teams.unknownPolicy,
      dailyCap: teams.dailyCap,
      handedOverToday: sql<number>`coalesce(${sendingDays.handedOver}, 0)`,
    })
    .from(teams)
    .leftJoin(
      sendingDays,
      and(
        eq(sendingDays.teamId, teams.id),
        eq(sendingDays.domain, ""),
        eq(sendingDays.day, sql`(now() at time zone 'utc')::date`),
      ),
    )
    .where(eq(teams.id, teamId));
  if (!row) throw notFound("Team");
  return row;
}

/** The team of that id or, where only one bears it, that name; without either, the first team that was made. */
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
      idOrName ? `There is no team "${idOrName}".` : "There is no team yet: team create NAME",
    );
  if (idOrName !== undefined && found.length > 1)
    throw new AppError("conflict", `Several teams are named "${idOrName}". Name it by its id.`);
  return team;
}
