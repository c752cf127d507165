import { and, asc, eq } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";

/** Whose queue: of the installation if both are null, of a team, or of one of its sender domains. */
export type QueueScope = { teamId: string | null; domain: string | null };

/** The context of an action on the whole installation. */
export type OperatorCtx = Omit<Ctx, "teamId">;

/** A scope with its name, as people read and type it: `installation`, the team's name, or the domain. */
export type NamedScope = QueueScope & { name: string; teamName: string | null };

/** The scope with its name. 404 if there is no such team, or the team has no such domain. */
export async function nameScope(deps: Pick<Deps, "db">, scope: QueueScope): Promise<NamedScope> {
  const { teamId, domain } = scope;
  if (teamId === null) {
    if (domain !== null) throw new AppError("invalid", "A domain needs its team.");
    return { ...scope, name: "installation", teamName: null };
  }
  if (!isId(teamId)) throw notFound("Team");
  const [team] = await deps.db.select({ name: teams.name }).from(teams).where(eq(teams.id, teamId));
  if (!team) throw notFound("Team");
  if (domain === null) return { ...scope, name: team.name, teamName: team.name };
  const [found] = await deps.db
    .select({ name: domains.name })
    .from(domains)
    .where(and(eq(domains.teamId, teamId), eq(domains.name, domain)));
  if (!found) throw new AppError("not_found", `Team ${team.name} has no domain ${domain}.`);
  return { ...scope, name: domain, teamName: team.name };
}

/** The team that has a domain. 404 if none has it; 409 if several have it, because domains are paused by team. */
export async function findTeamOfDomain(deps: Pick<Deps, "db">, domain: string): Promise<string> {
  const [first, ...others] = await deps.db
    .select({ teamId: domains.teamId })
    .from(domains)
    .where(eq(domains.name, domain))
    .orderBy(asc(domains.teamId))
    .limit(2);
  if (!first) throw new AppError("not_found", `No team has the domain ${domain}.`);
  if (others.length > 0)
    throw new AppError("conflict", `Several teams have the domain ${domain}. Name one of them with --team.`);
  return first.teamId;
}
