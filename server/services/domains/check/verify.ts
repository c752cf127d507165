import { and, asc, inArray, isNull, lte, ne, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { domains, type RecordCheck } from "#db/schema/domains";
import type { Ctx, Deps } from "#server/deps";
import type { QueryDns } from "#server/mail/dns/dns";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import type { DomainRecord } from "#server/shared/wire/domain";
import { recordAudit } from "../../audit/record";
import { withCredentials } from "../dkim/credentials";
import { type Domain, findDomain, isDomain } from "../read";
import { checkTrackingHost } from "../tracking-hosts";
import { findEditableDomain } from "../write";
import { checkDomainRecords, checkMsMax } from "./doctor";
import { PROOF, statusOf } from "./evaluate";
import type { FaultName } from "./faults";
import { findHolder, type HolderAnswer, type HolderCheck } from "./holder";
import { recordChecks } from "./record-result";
import { recordsOf } from "./records";
import { checkRecord } from "./records-in-dns";

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
      .where(and(isDomain(ctx, id), ne(domains.status, "verified"), isNull(domains.declaredVerifiedAt)));
    await recordAudit(tx, ctx, { action: "domain.verified", subject: domain });
  });
  return completeCheck(ctx, domain, await checkDomain(ctx, domain));
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
        const checks = await checkDomain(ctx, domain, stopping);
        if (!stopping?.aborted) await completeCheck(ctx, domain, checks);
      } catch (error) {
        deps.log.warn("domain.check_failed", { domainId: id, ...errorFacts(error) });
      }
    }),
  );
  return due.length;
}

/** Checks the records of a domain, and whether its tracking host serves links. */
async function checkDomain(ctx: Ctx, domain: Domain, stopping?: AbortSignal): Promise<RecordCheck[]> {
  const checks = await checkDomainRecords(ctx, domain, stopping);
  const host = await checkTrackingHost(ctx, domain, checks, stopping);
  return host ? [...checks, host] : checks;
}

/**
 * If the records prove a domain that another team has verified, the other team's domain is checked first,
 * outside any transaction.
 */
async function completeCheck(ctx: Ctx, domain: Domain, checks: RecordCheck[]): Promise<Domain> {
  const isProved = domain.status !== "verified" && statusOf(checks) === "verified";
  return recordChecks(ctx, domain.id, checks, isProved ? await recheckHolder(ctx, domain.name) : null);
}

/**
 * Claims up to `limit` domains whose next check is due, longest overdue first, in one statement. Each claim
 * moves the next check to the end of the lease. The check then sets the real time; if the worker dies, the
 * domain becomes due again.
 */
async function claimDueDomains(db: Db, { limit, leaseMs }: { limit: number; leaseMs: number }) {
  const due = db
    .$with("due")
    .as(
      db
        .select({ id: domains.id })
        .from(domains)
        .where(lte(domains.nextCheckAt, sql`now()`))
        .orderBy(asc(domains.nextCheckAt))
        .limit(limit)
        .for("update", { skipLocked: true }),
    );
  return db
    .with(due)
    .update(domains)
    .set({ nextCheckAt: sql`now() + ${leaseMs} * interval '1 ms'` })
    .where(inArray(domains.id, db.select({ id: due.id }).from(due)))
    .returning({ id: domains.id, teamId: domains.teamId });
}

/** Time limit of the recheck in ms; it delays the call that verifies the other domain. */
const holderMsMax = 5_000;

/** Faults that mean the record is gone. Any other fault means that it is, or may be, still published. */
const GONE: readonly FaultName[] = ["missing", "wrong_value", "proxied_cname"];
const UNKNOWN: readonly FaultName[] = ["servfail", "timeout"];

/**
 * Checks the domain of the team that has verified this name, within 5 s, because another team has just proved
 * it. It runs a regular check, which its team sees, and checks the proof at every configured resolver
 * separately. Null if no other team has verified the name.
 */
async function recheckHolder(ctx: Ctx, name: string): Promise<HolderCheck | null> {
  const holder = await findHolder(ctx.db, ctx, name);
  if (!holder) return null;
  const holderCtx: Ctx = { ...ctx, teamId: holder.teamId, actor: { kind: "system" }, requestId: newId() };
  const domain = await findDomain(holderCtx, holder.id);
  const timeout = AbortSignal.timeout(holderMsMax);
  const proof = recordsOf(domain, ctx).filter(({ key }) => PROOF.includes(key));
  const [checks, found] = await Promise.all([
    checkDomain(holderCtx, domain, timeout),
    Promise.all(
      ctx
        .resolvers()
        .map((query) => checkAll((recordName, type) => query(recordName, type, timeout), domain, proof)),
    ),
  ]);
  await recordChecks(holderCtx, holder.id, checks);
  return {
    holderId: holder.id,
    answers: found.map(({ answer }) => answer),
    published: [...new Set(found.flatMap(({ published }) => published))],
  };
}

/** What one resolver returns for all these records: `gone` only if every record is gone. */
async function checkAll(
  query: QueryDns,
  domain: Domain,
  proof: readonly DomainRecord[],
): Promise<{ answer: HolderAnswer; published: string[] }> {
  const results = await Promise.all(
    proof.map(async (record) => ({
      host: record.host,
      ...(await checkRecord(query, domain, record)).finding,
    })),
  );
  const published = results.filter(({ fault }) => fault === null || ![...GONE, ...UNKNOWN].includes(fault));
  if (published.length > 0) return { answer: "published", published: published.map(({ host }) => host) };
  const isGone = results.every(({ fault }) => fault !== null && GONE.includes(fault));
  return { answer: isGone ? "gone" : "unknown", published: [] };
}
