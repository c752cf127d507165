import { and, eq, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { isUniqueViolation } from "#db/faults";
import type { AuditDetail } from "#db/schema/audit";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { parseDomainName } from "#server/mail/address/address";
import { isPublicSuffix } from "#server/mail/address/registered-domain";
import { DKIM_ALGORITHMS } from "#server/mail/dkim/key";
import { AppError, invalidField, notFound } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { recordAudit } from "../audit/record";
import { changeKeys } from "../keys/keys";
import { linkToCaller } from "../keys/links";
import { lockTeam } from "../lock-team";
import type { CopyMailboxes } from "../teams";
import { announceDomain } from "./announce";
import { type CapChange, capColumns, requireEnd } from "./caps";
import { claimExpiry } from "./check/expire";
import { trackingHostOf } from "./check/records";
import { newOwnershipToken } from "./dkim/credentials";
import { addFirstKeys, type GeneratedKeys, generateFirstKeys } from "./dkim/keys";
import { type Domain, domainColumns, findDomain, isDomain } from "./read";
import { requireHostAllowed } from "./tracking-hosts";

/** The settings of a domain that a team can change. */
export type DomainChange = Partial<
  Pick<Domain, "openTracking" | "clickTracking" | "trackingSubdomain" | "tls" | "sending" | "receiving">
> &
  CapChange &
  Partial<CopyMailboxes>;
export type NewDomain = DomainChange &
  Partial<Pick<Domain, "returnPathLabel" | "region">> & {
    name: string;
    /** Set by the operator only; otherwise DNS must prove the domain. */
    verified?: boolean;
  };

/** A key with access to all domains reads them at each lookup, so their number is limited. */
const domainsPerTeamMax = 1_000;

/**
 * Adds a domain to the team and to the calling key, without DKIM keys. Does not reveal whether other teams
 * have added it. AppError `conflict` if the team already has it, or if the operator declares a domain that
 * another team has verified.
 */
export const addDomain = (ctx: Ctx, input: NewDomain): Promise<Domain> =>
  insertDomain(ctx, { ...input, name: parseNewName(input.name) }, { id: newId(), keys: [] });

async function insertDomain(
  ctx: Ctx,
  { name, verified, dailyCap, warmUp, ...rest }: NewDomain,
  { id, keys }: { id: string; keys: GeneratedKeys },
): Promise<Domain> {
  try {
    return await changeKeys(ctx, async (tx) => {
      await lockTeam(tx, ctx.teamId);
      if ((await tx.$count(domains, eq(domains.teamId, ctx.teamId))) >= domainsPerTeamMax)
        throw new AppError(
          "conflict",
          `A team has at most ${domainsPerTeamMax} domains. Delete an unused domain first.`,
        );
      const [inserted] = await tx
        .insert(domains)
        .values({
          ...rest,
          ...capColumns({ dailyCap, warmUp }),
          id,
          teamId: ctx.teamId,
          name,
          ownershipToken: newOwnershipToken(),
          ...(verified
            ? { status: "verified" as const, declaredVerifiedAt: sql`now()` }
            : { expiresAt: claimExpiry }),
        })
        .returning(domainColumns);
      if (!inserted) throw new Error("an insert returned no row");
      await addFirstKeys(tx, inserted, keys);
      const domain = await findDomain({ ...ctx, db: tx }, id);
      requireCapability(domain);
      requireEnd(domain);
      await recordAudit(tx, ctx, {
        action: "domain.added",
        subject: domain,
        detail: verified ? { declared_verified: true } : {},
      });
      await linkToCaller(tx, ctx, domain);
      await announceDomain({ ...ctx, db: tx }, "domain.created", domain);
      return domain;
    });
  } catch (error) {
    if (isUniqueViolation(error, "domains_team_name_key"))
      throw new AppError("conflict", `This team already has ${name}.`, { cause: error });
    throw explainHeld(error, name);
  }
}

/** Adds a domain and creates its DKIM keys, so the response holds every record to publish. */
export async function createDomain(ctx: Ctx, input: Omit<NewDomain, "verified">): Promise<Domain> {
  const id = newId();
  const name = parseNewName(input.name);
  const keys = await generateFirstKeys(ctx, id, DKIM_ALGORITHMS);
  const domain = await insertDomain(ctx, { ...input, name }, { id, keys });
  ctx.wake();
  return domain;
}

/** Updates the given fields only. */
export async function updateDomain(ctx: Ctx, id: string, change: DomainChange): Promise<Domain> {
  const before = await findEditableDomain(ctx, id);
  if (Object.keys(change).length === 0) return before;
  const { dailyCap, warmUp, ...rest } = change;
  const after = { ...before, ...rest };
  const hasNewHost = trackingHostOf(after) !== trackingHostOf(before);
  if (hasNewHost) await requireHostAllowed(ctx, after);
  return writeDomain(
    ctx,
    "updated",
    { action: "domain.changed", detail: formatChange(change) },
    async (tx) => {
      const [changed] = await tx
        .update(domains)
        .set({
          ...rest,
          ...capColumns({ dailyCap, warmUp }),
          // Its next check finds whether the new host serves links.
          ...(hasNewHost && {
            trackingHost: null,
            nextCheckAt: sql`case when ${domains.status} = 'verified' then now() else ${domains.nextCheckAt} end`,
          }),
        })
        .where(isDomain(ctx, id))
        .returning(domainColumns);
      if (!changed) throw notFound("Domain");
      requireCapability(changed);
      requireEnd(changed);
      return changed;
    },
  );
}

/** Runs a change of a domain in a transaction that also records and announces it. */
async function writeDomain(
  ctx: Ctx,
  event: "updated" | "deleted",
  audit: Pick<Parameters<typeof recordAudit>[2], "action" | "detail">,
  write: (tx: Db) => Promise<Domain>,
): Promise<Domain> {
  const domain = await ctx.db.transaction(async (tx) => {
    const written = await write(tx);
    await recordAudit(tx, ctx, { ...audit, subject: written });
    await announceDomain({ ...ctx, db: tx }, `domain.${event}`, written);
    return written;
  });
  ctx.clearKeyCache();
  ctx.wake();
  return domain;
}

/**
 * Deletes a domain and its links to keys. Queued email from it is no longer sent. Any team that adds the name
 * again, including this one, must prove it with a new token.
 */
export async function deleteDomain(ctx: Ctx, id: string): Promise<Domain> {
  await findEditableDomain(ctx, id);
  return writeDomain(ctx, "deleted", { action: "domain.removed" }, async (tx) => {
    const [removed] = await tx.delete(domains).where(isDomain(ctx, id)).returning(domainColumns);
    if (!removed) throw notFound("Domain");
    return removed;
  });
}

/**
 * Marks a domain as verified manually by the operator; DNS checks do not change that. AppError `conflict` if
 * another team has verified it.
 */
export async function declareDomainVerified(ctx: Ctx, name: string): Promise<Domain> {
  return writeDomain(ctx, "updated", { action: "domain.declared" }, async (tx) => {
    const [declared] = await tx
      .update(domains)
      .set({
        status: "verified",
        declaredVerifiedAt: sql`now()`,
        failingSince: null,
        failedChecks: 0,
        expiresAt: null,
      })
      .where(and(eq(domains.teamId, ctx.teamId), eq(domains.name, name.toLowerCase())))
      .returning(domainColumns);
    if (!declared) throw notFound(`Domain ${name.toLowerCase()}`);
    return declared;
  }).catch((error) => {
    throw explainHeld(error, name);
  });
}

/**
 * Only an operator command can hit this constraint: other domains are verified after the holder is released.
 */
const explainHeld = (error: unknown, name: string): unknown =>
  isUniqueViolation(error, "domains_verified_name_key")
    ? new AppError("conflict", `${name} is verified for another team. Remove it there first.`, {
        cause: error,
      })
    : error;

/** One domain of the team, except the built-in one, which cannot be changed. */
export async function findEditableDomain(ctx: Ctx, id: string): Promise<Domain> {
  const domain = await findDomain(ctx, id);
  if (domain.name === BUILT_IN_DOMAIN)
    throw new AppError(
      "conflict",
      `${BUILT_IN_DOMAIN} is built in: every team has it, and it cannot be changed.`,
    );
  return domain;
}

/** The change as the audit log stores it: a warm-up in one line. */
const formatChange = ({ warmUp, ...rest }: DomainChange): AuditDetail => ({
  ...rest,
  ...(warmUp !== undefined && {
    warmUp:
      warmUp &&
      `${warmUp.firstDay} on ${warmUp.startDate ?? "the first day"}, then ${warmUp.growthPercent} % more each day${warmUp.target === null ? "" : ` up to ${warmUp.target}`}`,
  }),
});

function requireCapability({ sending, receiving }: Domain): void {
  if (!sending && !receiving)
    throw new AppError("invalid", "A domain needs at least one capability: enable `sending`.", {
      plain: "A domain needs at least one capability: enable sending.",
    });
}

/** The name of a new domain in its canonical form. Throws AppError with a message for the caller. */
export function parseNewName(given: string): string {
  const read = parseDomainName(given);
  if (!read.ok) throw invalidField("name", read.fault);
  const { domain } = read;
  if (domain === BUILT_IN_DOMAIN) throw new AppError("conflict", `${domain} is built in: every team has it.`);
  if (domain.endsWith(`.${BUILT_IN_DOMAIN}`))
    throw invalidField("name", `subdomains of ${BUILT_IN_DOMAIN} cannot be added.`);
  if (isPublicSuffix(domain))
    throw invalidField(
      "name",
      `${domain} is a public suffix, under which anyone can register. Add your own domain, such as example.${domain}.`,
    );
  return domain;
}
