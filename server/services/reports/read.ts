import { and, desc, eq, gt, sql } from "drizzle-orm";
import { type CheckKey, domainReportCounts, domainReports } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { type Domain, findDomain } from "../domains/read";
import { reportAddressOf } from "../domains/report-address";
import { advisePolicy, type Shares } from "./advice";

const shownDays = 30;
const sourcesMax = 50;
const failuresMax = 20;
const domainsMax = 5;

/**
 * What the aggregate reports of the last 30 days say about a domain of the team, where reports are received,
 * and which DMARC record to publish next.
 */
export async function getDomainReports(ctx: Ctx, id: string) {
  const domain = await findDomain(ctx, id);
  const [shares, sources, tls, failures, last] = await Promise.all([
    readShares(ctx, domain),
    listOtherSources(ctx, domain),
    readTlsSessions(ctx, domain),
    listTlsFailures(ctx, domain),
    findLastReport(ctx, domain),
  ]);
  const to = reportAddressOf(domain, ctx);
  return {
    address: to?.address ?? null,
    consentHost: to?.consentHost ?? null,
    isMxMissing: to !== null && ctx.names.mailHost !== null && !isVerified(domain, "mx"),
    tlsRecord: to && { host: `_smtp._tls.${domain.name}`, value: `v=TLSRPTv1; rua=mailto:${to.address}` },
    last,
    shares,
    sources,
    tls: { ...tls, failures },
    next: advisePolicy(domain, to?.address ?? null, shares),
  };
}
export type DomainReports = Awaited<ReturnType<typeof getDomainReports>>;

const isVerified = ({ checks }: Domain, purpose: CheckKey) =>
  checks.some(({ key, status }) => key === purpose && status === "verified");

const counts = domainReportCounts;

/** The counts of the domain in the period that is shown. */
const isShown = (domain: Domain, kind: "dmarc" | "tls") =>
  and(
    eq(counts.teamId, domain.teamId),
    eq(counts.domainId, domain.id),
    eq(counts.kind, kind),
    gt(counts.day, sql`current_date - ${shownDays}::int`),
  );

const sumOf = (condition = sql`true`) =>
  sql<number>`coalesce(sum(${counts.count}) filter (where ${condition}), 0)::float8`;

async function readShares({ db }: Ctx, domain: Domain): Promise<Shares> {
  const { isOurs, isAligned, day } = counts;
  const [shares] = await db
    .select({
      total: sumOf(),
      ours: sumOf(sql`${isOurs} and ${isAligned}`),
      oursUnaligned: sumOf(sql`${isOurs} and not ${isAligned}`),
      others: sumOf(sql`not ${isOurs} and ${isAligned}`),
      othersUnaligned: sumOf(sql`not ${isOurs} and not ${isAligned}`),
      days: sql<number>`count(distinct ${day})::int`,
    })
    .from(counts)
    .where(isShown(domain, "dmarc"));
  if (!shares) throw new Error("a sum returned no row");
  return shares;
}

/** The sources that are not ours, those with the most unaligned messages first. */
const listOtherSources = ({ db }: Ctx, domain: Domain) =>
  db
    .select({
      source: counts.source,
      /** The first domains that DKIM or SPF authenticated. */
      domains: sql<
        string[]
      >`(array_remove(array_agg(distinct ${counts.detail}), ''))[1:${sql.raw(`${domainsMax}`)}]`,
      messages: sumOf(),
      unaligned: sumOf(sql`not ${counts.isAligned}`),
      lastDay: sql<string>`max(${counts.day})::text`,
    })
    .from(counts)
    .where(and(isShown(domain, "dmarc"), sql`not ${counts.isOurs}`))
    .groupBy(counts.source)
    .orderBy(desc(sumOf(sql`not ${counts.isAligned}`)), desc(sumOf()), counts.source)
    .limit(sourcesMax);

async function readTlsSessions({ db }: Ctx, domain: Domain) {
  const [sessions] = await db
    .select({ sessions: sumOf(), failed: sumOf(sql`not ${counts.isAligned}`) })
    .from(counts)
    .where(isShown(domain, "tls"));
  return sessions ?? { sessions: 0, failed: 0 };
}

const listTlsFailures = ({ db }: Ctx, domain: Domain) =>
  db
    .select({ type: counts.detail, host: counts.source, sessions: sumOf() })
    .from(counts)
    .where(and(isShown(domain, "tls"), sql`not ${counts.isAligned}`))
    .groupBy(counts.detail, counts.source)
    .orderBy(desc(sumOf()), counts.detail, counts.source)
    .limit(failuresMax);

async function findLastReport({ db }: Ctx, { teamId, id }: Domain) {
  const [last] = await db
    .select({ kind: domainReports.kind, reporter: domainReports.reporter, at: domainReports.receivedAt })
    .from(domainReports)
    .where(and(eq(domainReports.teamId, teamId), eq(domainReports.domainId, id)))
    .orderBy(desc(domainReports.receivedAt))
    .limit(1);
  return last ? { ...last, at: last.at.toISOString() } : null;
}
