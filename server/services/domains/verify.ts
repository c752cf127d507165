import { and, eq, isNull, ne, sql } from "drizzle-orm";
import { claimDueDomains } from "#db/due-domains";
import { domains, type RecordCheck } from "#db/schema/domains";
import type { Ctx, Deps } from "#server/deps";
import { notFound } from "#server/errors";
import { newId } from "#server/ids";
import { errorFacts } from "#server/log";
import { recordAudit } from "../audit/record";
import { announceDomain } from "./announce-domain";
import { withCredentials } from "./credentials";
import { awaitingKeyForMs, forgetRetiredKeys, promoteSeenKeys } from "./dkim-keys";
import { examineDomain, lookMsMax } from "./doctor";
import { judgeLook, lookAgainMs } from "./judge";
import { type Domain, domainColumns, findDomain } from "./read";
import { findOwn } from "./write";

/**
 * Looks at the domain's records now and answers what was seen, within 20 s. A domain that is not verified is looked at
 * again by itself, at growing intervals for 72 hours from this call on; so it is, too, where this process ends before
 * its look does.
 */
export async function verifyDomain(ctx: Ctx, id: string): Promise<Domain> {
  const domain = await withCredentials(ctx, await findOwn(ctx, id));
  await ctx.db.transaction(async (tx) => {
    await tx
      .update(domains)
      .set({
        failingSince: sql`now()`,
        failedLooks: 0,
        nextCheckAt: sql`now() + ${lookMsMax * 2} * interval '1 ms'`,
      })
      .where(and(mine(ctx, id), ne(domains.status, "verified"), isNull(domains.declaredVerifiedAt)));
    await recordAudit(tx, ctx, { action: "domain.verified", subject: domain });
  });
  return recordLook(ctx, id, await examineDomain(ctx, domain));
}

/**
 * Looks at up to `limit` domains whose next look is due, side by side. Each is claimed by pushing its due time ahead, so
 * that workers do not look at one domain together and a look that dies, or is broken off by `stopping`, is made up for.
 * Tells how many.
 */
export async function recheckDomains(deps: Deps, limit: number, stopping?: AbortSignal): Promise<number> {
  const due = await claimDueDomains(deps.db, { limit, leaseMs: lookMsMax * 4 });
  await Promise.all(
    due.map(async ({ id, teamId }) => {
      const ctx: Ctx = { ...deps, teamId, actor: { kind: "operator" }, requestId: newId() };
      try {
        const checks = await examineDomain(ctx, await findDomain(ctx, id), stopping);
        if (!stopping?.aborted) await recordLook(ctx, id, checks);
      } catch (error) {
        deps.log.warn("domain.look_failed", { domainId: id, ...errorFacts(error) });
      }
    }),
  );
  return due.length;
}

/** Writes what was seen, and what it means now: another look may have been first, so it is judged under the row's lock. */
async function recordLook(ctx: Ctx, id: string, checks: RecordCheck[]): Promise<Domain> {
  const { domain, hasChanged } = await ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select({
        status: domains.status,
        declaredVerifiedAt: domains.declaredVerifiedAt,
        failedLooks: domains.failedLooks,
        failingForMs: sql<
          number | null
        >`(extract(epoch from now() - ${domains.failingSince}) * 1000)::float8`,
      })
      .from(domains)
      .where(mine(ctx, id))
      .for("update");
    if (!before) throw notFound("Domain");
    const judged = judgeLook({ ...before, isDeclared: before.declaredVerifiedAt !== null }, checks);
    const awaitedMs = await awaitingKeyForMs({ ...ctx, db: tx }, id);
    const forKeyMs = awaitedMs === null ? null : lookAgainMs(awaitedMs);
    const nextLookMs = [judged.nextLookMs, forKeyMs].reduce(sooner);
    const [looked] = await tx
      .update(domains)
      .set({
        status: judged.status,
        checks: judged.checks,
        failedLooks: judged.failedLooks,
        failingSince: judged.isFailing ? sql`coalesce(${domains.failingSince}, now())` : null,
        lastCheckedAt: sql`now()`,
        nextCheckAt: nextLookMs === null ? null : sql`now() + ${nextLookMs} * interval '1 ms'`,
      })
      .where(mine(ctx, id))
      .returning(domainColumns);
    if (!looked) throw notFound("Domain");
    const inside = { ...ctx, db: tx };
    await forgetRetiredKeys(inside, looked);
    const hasNewKey = await promoteSeenKeys(inside, looked, checks);
    const after = await findDomain(inside, id);
    const hasChanged = after.status !== before.status || hasNewKey;
    if (hasChanged) await announceDomain(inside, "domain.updated", after);
    return { domain: after, hasChanged };
  });
  if (hasChanged) {
    ctx.log.info("domain.status_changed", { domainId: id, status: domain.status });
    ctx.wake();
  }
  return domain;
}

const sooner = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));
const mine = (ctx: Ctx, id: string) => and(eq(domains.teamId, ctx.teamId), eq(domains.id, id));
