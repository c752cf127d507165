import { sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { domains, type RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { announceDomain } from "../announce";
import { awaitingKeyForMs, deleteRetiredKeys, promotePublishedKeys } from "../dkim/keys";
import { type Domain, domainColumns, findDomain, isDomain } from "../read";
import { isReturnPathPublished, receivesBounces, returnPathChange } from "../return-path";
import { linkHostAfter, nextHostCheckMs } from "../tracking-hosts";
import { awaitRelease, evaluateChecks, nextCheckInMs } from "./evaluate";
import { type HolderCheck, lockHolder, releaseHolder } from "./holder";

/**
 * Records the result of a check and the new status, under the row's lock because another check may have
 * finished first. `holderCheck` is the recheck of the other team that has verified the name: its records must
 * be gone before this team is verified.
 */
export async function recordChecks(
  ctx: Ctx,
  id: string,
  checks: RecordCheck[],
  holderCheck: HolderCheck | null = null,
): Promise<Domain> {
  const write = () => writeChecks(ctx, id, checks, holderCheck);
  const { domain, hasChanged } = await write().catch((error) => {
    // Another team was verified at this moment; the repeated write finds it as the holder.
    if (isUniqueViolation(error, "domains_verified_name_key")) return write();
    throw error;
  });
  if (hasChanged) {
    ctx.log.info("domain.status_changed", { domainId: id, status: domain.status });
    ctx.clearKeyCache();
    ctx.wake();
  }
  return domain;
}

async function writeChecks(ctx: Ctx, id: string, checks: RecordCheck[], holderCheck: HolderCheck | null) {
  return ctx.db.transaction(async (tx) => {
    const txCtx = { ...ctx, db: tx };
    const [before] = await tx
      .select({
        name: domains.name,
        status: domains.status,
        id: domains.id,
        trackingSubdomain: domains.trackingSubdomain,
        trackingHost: domains.trackingHost,
        declaredVerifiedAt: domains.declaredVerifiedAt,
        failedChecks: domains.failedChecks,
        failingForMs: sql<
          number | null
        >`(extract(epoch from now() - ${domains.failingSince}) * 1000)::float8`,
      })
      .from(domains)
      .where(isDomain(ctx, id))
      .for("update");
    if (!before) throw notFound("Domain");
    const state = { ...before, isDeclared: before.declaredVerifiedAt !== null };
    let evaluation = evaluateChecks(state, checks);
    if (evaluation.status === "verified" && before.status !== "verified") {
      const holder = await lockHolder(tx, ctx, before.name, holderCheck);
      if (holder?.reason) evaluation = awaitRelease(state, evaluation, holder.reason);
      else if (holder) await releaseHolder(tx, ctx, holder);
    }
    const awaitedMs = await awaitingKeyForMs(txCtx, id);
    const forKeyMs = awaitedMs === null ? null : nextCheckInMs(awaitedMs);
    const trackingHost = linkHostAfter(before, checks);
    const isVerified = evaluation.status === "verified";
    const forHostMs = isVerified ? await nextHostCheckMs(txCtx, before, trackingHost !== null) : null;
    const nextCheckMs = [evaluation.nextCheckMs, forKeyMs, forHostMs].reduce(earlier);
    const isPublished = receivesBounces(ctx) ? isReturnPathPublished(checks) : false;
    const [checked] = await tx
      .update(domains)
      .set({
        status: evaluation.status,
        checks: evaluation.checks,
        trackingHost,
        failedChecks: evaluation.failedChecks,
        failingSince: evaluation.isFailing ? sql`coalesce(${domains.failingSince}, now())` : null,
        lastCheckedAt: sql`now()`,
        nextCheckAt: nextCheckMs === null ? null : sql`now() + ${nextCheckMs} * interval '1 ms'`,
        ...(isVerified && { expiresAt: null }),
        ...returnPathChange(isPublished, before.status === "verified"),
      })
      .where(isDomain(ctx, id))
      .returning(domainColumns);
    if (!checked) throw notFound("Domain");
    await deleteRetiredKeys(txCtx, checked);
    const hasNewKey = await promotePublishedKeys(txCtx, checked, checks);
    const after = await findDomain(txCtx, id);
    const hasChanged =
      after.status !== before.status || after.trackingHost !== before.trackingHost || hasNewKey;
    if (hasChanged) await announceDomain(txCtx, "domain.updated", after);
    return { domain: after, hasChanged };
  });
}

const earlier = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
