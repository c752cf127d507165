import { and, asc, eq, sql } from "drizzle-orm";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { sendingDays } from "#db/schema/sending-days";
import { teams, type UnknownPolicy } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { isId, newId } from "#server/ids";

export type Team = { id: string; name: string };

/** Makes a team together with its row of the built-in domain, which is verified from the start. */
export async function createTeam(deps: Deps, input: { name: string }): Promise<Team> {
  const team = { id: newId(), name: input.name };
  await deps.db.transaction(async (tx) => {
    await tx.insert(teams).values(team);
    await tx
      .insert(domains)
      .values({ id: newId(), teamId: team.id, name: BUILT_IN_DOMAIN, status: "verified" });
  });
  return team;
}

/** Every team, the first that was made first. */
export async function listTeams(deps: Deps): Promise<Team[]> {
  return deps.db.select({ id: teams.id, name: teams.name }).from(teams).orderBy(asc(teams.id));
}

/**
 * Says what becomes of a team's mail whose outcome nobody can know: `retry` sends it again, so that it may be doubled;
 * `hold` waits until somebody settles it.
 */
export async function setUnknownPolicy(deps: Deps, team: Team, policy: UnknownPolicy): Promise<void> {
  await deps.db.update(teams).set({ unknownPolicy: policy }).where(eq(teams.id, team.id));
}

/** Limits to how many recipients a day (UTC) a team's mail is handed over, from all its domains together; null: no limit. */
export async function setDailyCap(deps: Deps, team: Team, dailyCap: number | null): Promise<void> {
  await deps.db.update(teams).set({ dailyCap }).where(eq(teams.id, team.id));
}

/** How a team's mail is treated; and where it has a cap, to how many recipients mail was handed over today (UTC). */
export async function readTeamRules(
  deps: Deps,
  team: Team,
): Promise<Team & { unknown: UnknownPolicy; dailyCap: number | null; handedOverToday: number }> {
  const [row] = await deps.db
    .select({
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
    .where(eq(teams.id, team.id));
  if (!row) throw notFound("Team");
  return { ...team, ...row };
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
