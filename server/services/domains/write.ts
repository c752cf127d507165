import { and, count, eq, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import type { AuditDetail } from "#db/schema/audit";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { readDomainName } from "#server/mail/address";
import { isPublicSuffix } from "#server/mail/registered-domain";
import { recordAudit } from "../audit/record";
import { announceDomain } from "./announce-domain";
import { type CapChange, capColumns, requireEnd } from "./caps";
import { newOwnershipToken, withCredentials } from "./credentials";
import { type Domain, domainColumns, findDomain } from "./read";

/** What a team may set about a domain, at once or later. */
export type DomainChange = Partial<
  Pick<Domain, "openTracking" | "clickTracking" | "trackingSubdomain" | "tls" | "sending" | "receiving">
> &
  CapChange;
export type NewDomain = DomainChange &
  Partial<Pick<Domain, "returnPathLabel" | "region">> & {
    name: string;
    /** The operator's own word; else DNS has to show it. */
    verified?: boolean;
  };

/** Every key with all domains reads them at each look-up, so a team cannot have them without end. */
const domainsPerTeamMax = 1_000;

/** Adds a domain to the team, with everything to publish for it but the DKIM key. */
export async function addDomain(ctx: Ctx, input: NewDomain): Promise<Domain> {
  const { name: given, verified, dailyCap, warmUp, ...rest } = input;
  const name = readNewName(given);
  try {
    return await ctx.db.transaction(async (tx) => {
      const [found] = await tx.select({ n: count() }).from(domains).where(eq(domains.teamId, ctx.teamId));
      if ((found?.n ?? 0) >= domainsPerTeamMax)
        throw new AppError(
          "conflict",
          `A team has at most ${domainsPerTeamMax} domains. Delete one that is not used.`,
        );
      const [domain] = await tx
        .insert(domains)
        .values({
          ...rest,
          ...capColumns({ dailyCap, warmUp }),
          id: newId(),
          teamId: ctx.teamId,
          name,
          ownershipToken: newOwnershipToken(),
          ...(verified ? { status: "verified" as const, declaredVerifiedAt: sql`now()` } : {}),
        })
        .returning(domainColumns);
      if (!domain) throw new Error("an insert returned no row");
      requireCapability(domain);
      requireEnd(domain);
      await recordAudit(tx, ctx, {
        action: "domain.added",
        subject: domain,
        detail: verified ? { declared_verified: true } : {},
      });
      await announceDomain({ ...ctx, db: tx }, "domain.created", domain);
      return domain;
    });
  } catch (error) {
    if (isUniqueViolation(error, "domains_name_key") || isUniqueViolation(error, "domains_team_name_key"))
      throw new AppError("conflict", `${name} is already in use. A domain belongs to one team at a time.`, {
        cause: error,
      });
    throw error;
  }
}

/** Adds a domain and makes its DKIM key, so that all there is to publish is known at once. */
export async function createDomain(ctx: Ctx, input: Omit<NewDomain, "verified">): Promise<Domain> {
  const domain = await withCredentials(ctx, await addDomain(ctx, input));
  ctx.wake();
  return domain;
}

/** Changes what is given and leaves the rest. */
export async function updateDomain(ctx: Ctx, id: string, change: DomainChange): Promise<Domain> {
  const before = await findOwn(ctx, id);
  if (Object.keys(change).length === 0) return before;
  const { dailyCap, warmUp, ...rest } = change;
  const domain = await ctx.db.transaction(async (tx) => {
    const [changed] = await tx
      .update(domains)
      .set({ ...rest, ...capColumns({ dailyCap, warmUp }) })
      .where(and(eq(domains.teamId, ctx.teamId), eq(domains.id, id)))
      .returning(domainColumns);
    if (!changed) throw notFound("Domain");
    requireCapability(changed);
    requireEnd(changed);
    await recordAudit(tx, ctx, { action: "domain.changed", subject: changed, detail: tellChange(change) });
    await announceDomain({ ...ctx, db: tx }, "domain.updated", changed);
    return changed;
  });
  ctx.wake();
  return domain;
}

/**
 * Removes a domain with its links to keys. Mail that is queued from it is not sent any more. Whoever adds the name again,
 * this team included, has to prove it with a fresh token.
 */
export async function deleteDomain(ctx: Ctx, id: string): Promise<Domain> {
  await findOwn(ctx, id);
  const domain = await ctx.db.transaction(async (tx) => {
    const [removed] = await tx
      .delete(domains)
      .where(and(eq(domains.teamId, ctx.teamId), eq(domains.id, id)))
      .returning(domainColumns);
    if (!removed) throw notFound("Domain");
    await recordAudit(tx, ctx, { action: "domain.removed", subject: removed });
    await announceDomain({ ...ctx, db: tx }, "domain.deleted", removed);
    return removed;
  });
  ctx.wake();
  return domain;
}

/** Declares a domain verified on the operator's word; looks at DNS leave it so. */
export async function declareDomainVerified(ctx: Ctx, name: string): Promise<Domain> {
  const domain = await ctx.db.transaction(async (tx) => {
    const [declared] = await tx
      .update(domains)
      .set({
        status: "verified",
        declaredVerifiedAt: sql`now()`,
        nextCheckAt: null,
        failingSince: null,
        failedLooks: 0,
      })
      .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, name.toLowerCase())))
      .returning(domainColumns);
    if (!declared) throw notFound(`Domain ${name}`);
    await recordAudit(tx, ctx, { action: "domain.declared", subject: declared });
    await announceDomain({ ...ctx, db: tx }, "domain.updated", declared);
    return declared;
  });
  ctx.wake();
  return domain;
}

/** One domain of the team that is not the built-in one, which nobody changes. */
export async function findOwn(ctx: Ctx, id: string): Promise<Domain> {
  const domain = await findDomain(ctx, id);
  if (domain.name === BUILT_IN_DOMAIN)
    throw new AppError(
      "conflict",
      `${BUILT_IN_DOMAIN} is built in: every team has it, and nobody changes it.`,
    );
  return domain;
}

/** What was set, as the log keeps it: a warm-up in one line. */
const tellChange = ({ warmUp, ...rest }: DomainChange): AuditDetail => ({
  ...rest,
  ...(warmUp !== undefined && {
    warmUp:
      warmUp &&
      `${warmUp.firstDay} on ${warmUp.startDate ?? "the first day"}, then ${warmUp.growthPercent} % more each day${warmUp.target === null ? "" : ` up to ${warmUp.target}`}`,
  }),
});

function requireCapability({ sending, receiving }: Domain): void {
  if (!sending && !receiving)
    throw new AppError("invalid", "A domain needs one capability at least: enable `sending`.");
}

/**
 * The name under which a domain would be added, in the form that is compared and sent. Throws what is wrong with it, in
 * words for whoever typed it.
 */
export function readNewName(given: string): string {
  const read = readDomainName(given);
  if (!read.ok) throw new AppError("invalid", `Invalid \`name\`: ${read.fault}`);
  const { domain } = read;
  if (domain === BUILT_IN_DOMAIN) throw new AppError("conflict", `${domain} is built in: every team has it.`);
  if (domain.endsWith(`.${BUILT_IN_DOMAIN}`))
    throw new AppError("invalid", `Invalid \`name\`: what is below ${BUILT_IN_DOMAIN} cannot be added.`);
  if (isPublicSuffix(domain))
    throw new AppError(
      "invalid",
      `Invalid \`name\`: ${domain} is a public suffix, below which anybody can register. Add a domain of your own, such as example.${domain}.`,
    );
  return domain;
}
