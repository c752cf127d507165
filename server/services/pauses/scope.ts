import { and, asc, eq } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { parseDomainName } from "#server/mail/address/address";
import { AppError, notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { findTeam } from "../teams";

/** Whose queue: of the installation if both are null, of a team, or of one of its sender domains. */
export type QueueScope = { teamId: string | null; domain: string | null };

/** The context of an action on the whole installation. */
export type OperatorCtx = Omit<Ctx, "teamId">;

/** A scope with its name, as people read and type it: `installation`, the team's name, or the domain. */
export type NamedScope = QueueScope & { name: string; teamName: string | null };

/**
 * The scope of a team, given by id or name, and a domain, in Unicode or ASCII. A domain without a team is the
 * one of the team that has it. 404 if there is no such team, or no team has the domain; 409 if several teams
 * have that name or domain; 422 if it is not a domain name.
 */
export async function findScope(
  deps: Deps,
  { team, domain: given }: { team: string | null; domain: string | null },
): Promise<QueueScope> {
  const domain = given === null ? null : requireDomainName(given);
  if (team !== null) return { teamId: (await findTeam(deps, team)).id, domain };
  return { teamId: domain === null ? null : await findTeamOfDomain(deps, domain), domain };
}

function requireDomainName(given: string): string {
  const read = parseDomainName(given);
  if (!read.ok) throw new AppError("invalid", read.fault);
  return read.domain;
}

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

/** The id of a domain of the team. 422 without a team, 404 if the team has no such domain. */
export async function findDomainOfTeam(
  deps: Pick<Deps, "db">,
  { teamId, domain }: { teamId: string | null; domain: string },
): Promise<string> {
  if (teamId === null) throw new AppError("invalid", "A domain needs its team.");
  const [found] = await deps.db
    .select({ id: domains.id })
    .from(domains)
    .where(and(eq(domains.teamId, teamId), eq(domains.name, domain)));
  if (!found) throw new AppError("not_found", `The team has no domain ${domain}.`);
  return found.id;
}

// Domains are paused by team.
async function findTeamOfDomain(deps: Pick<Deps, "db">, domain: string): Promise<string> {
  const [first, ...others] = await deps.db
    .select({ teamId: domains.teamId })
    .from(domains)
    .where(eq(domains.name, domain))
    .orderBy(asc(domains.teamId))
    .limit(2);
  if (!first) throw new AppError("not_found", `No team has the domain ${domain}.`);
  if (others.length > 0)
    throw new AppError("conflict", `Several teams have the domain ${domain}. Name one of them.`);
  return first.teamId;
}
