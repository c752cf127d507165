import { and, eq, isNull, ne, sql } from "drizzle-orm";
import { domains, type RecordCheck } from "#db/schema/domains";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { recordAudit } from "../../audit/record";
import { withCredentials } from "../dkim/credentials";
import { claimDueDomains } from "../due";
import { type Domain, findDomain } from "../read";
import { findEditableDomain } from "../write";
import { checkDomainRecords, checkMsMax } from "./doctor";
import { statusOf } from "./evaluate";
import { recheckHolder } from "./recheck-holder";
import { recordChecks } from "./record-result";

/**
 * Checks the domain's records now and returns the result within 20 s. A domain that is not verified is then
 * checked again automatically, at growing intervals for 72 hours from this call; also if this process ends
 * before the check does.
 */
export async function verifyDomain(ctx: Ctx, id: string): Promise<Domain> {
  const domain = await withCredentials(ctx, await findEditableDomain(ctx, id));
  await ctx.db.transaction(async (tx) => {
    await tx
      .update(domains)
      .set({
        failingSince: sql`now()`,
        failedChecks: 0,
        nextCheckAt: sql`now() + ${checkMsMax * 2} * interval '1 ms'`,
      })
      .where(and(mine(ctx, id), ne(domains.status, "verified"), isNull(domains.declaredVerifiedAt)));
    await recordAudit(tx, ctx, { action: "domain.verified", subject: domain });
  });
  return completeCheck(ctx, domain, await checkDomainRecords(ctx, domain));
}

/**
 * Checks up to `limit` domains whose next check is due, concurrently. Each is claimed by moving its due time
 * ahead: workers do not check one domain together, and a check that fails or is aborted by `stopping` is
 * repeated. Returns how many were claimed.
 */
export async function recheckDomains(deps: Deps, limit: number, stopping?: AbortSignal): Promise<number> {
  const due = await claimDueDomains(deps.db, { limit, leaseMs: checkMsMax * 4 });
  await Promise.all(
    due.map(async ({ id, teamId }) => {
      const ctx: Ctx = { ...deps, teamId, actor: { kind: "system" }, requestId: newId() };
      try {
        const domain = await findDomain(ctx, id);
        const checks = await checkDomainRecords(ctx, domain, stopping);
        if (!stopping?.aborted) await completeCheck(ctx, domain, checks);
      } catch (error) {
        deps.log.warn("domain.look_failed", { domainId: id, ...errorFacts(error) });
      }
    }),
  );
  return due.length;
}

/**
 * If the records prove a domain that another team has verified, the other team's domain is checked first,
 * outside any transaction.
 */
async function completeCheck(ctx: Ctx, domain: Domain, checks: RecordCheck[]): Promise<Domain> {
  const isProved = domain.status !== "verified" && statusOf(checks) === "verified";
  return recordChecks(ctx, domain.id, checks, isProved ? await recheckHolder(ctx, domain.name) : null);
}

const mine = (ctx: Ctx, id: string) => and(eq(domains.teamId, ctx.teamId), eq(domains.id, id));
