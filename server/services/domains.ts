import { and, asc, eq, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { BUILT_IN_DOMAIN, type DomainStatus, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { readDomainName } from "#server/mail/address";

export type Domain = { id: string; name: string; status: DomainStatus; createdAt: Date };

const columns = { id: domains.id, name: domains.name, status: domains.status, createdAt: domains.createdAt };

/** Adds a domain to the team. `verified` is the operator's own word; else DNS has to show it. */
export async function addDomain(ctx: Ctx, input: { name: string; verified?: boolean }): Promise<Domain> {
  const read = readDomainName(input.name);
  if (!read.ok) throw new AppError("invalid", read.fault);
  if (read.domain === BUILT_IN_DOMAIN)
    throw new AppError("conflict", `${BUILT_IN_DOMAIN} is built in: every team has it.`);
  try {
    const [domain] = await ctx.db
      .insert(domains)
      .values({
        id: newId(),
        teamId: ctx.teamId,
        name: read.domain,
        ...(input.verified ? { status: "verified" as const, declaredVerifiedAt: sql`now()` } : {}),
      })
      .returning(columns);
    if (!domain) throw new Error("an insert returned no row");
    return domain;
  } catch (error) {
    if (isUniqueViolation(error, "domains_name_key") || isUniqueViolation(error, "domains_team_name_key"))
      throw new AppError(
        "conflict",
        `${read.domain} is already in use. A domain belongs to one team at a time.`,
      );
    throw error;
  }
}

/** The team's domains by name, the built-in one included. */
export async function listDomains(ctx: Ctx): Promise<Domain[]> {
  return ctx.db
    .select(columns)
    .from(domains)
    .where(eq(domains.teamId, ctx.teamId))
    .orderBy(asc(domains.name));
}

/** Declares a domain verified on the operator's word; re-checks by DNS leave it so. */
export async function declareDomainVerified(ctx: Ctx, name: string): Promise<Domain> {
  const [domain] = await ctx.db
    .update(domains)
    .set({ status: "verified", declaredVerifiedAt: sql`now()` })
    .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, name.toLowerCase())))
    .returning(columns);
  if (!domain) throw notFound(`Domain ${name}`);
  return domain;
}
