import type { TransactionSql } from "postgres";
import type { Deps } from "#server/deps";
import type { Aggregates } from "#server/mail/aggregate/read";
import type { AggregateReport, Refusal, ReportRow } from "#server/mail/aggregate/report";
import { keptDays } from "./retention";

/** Why an aggregate report is not recorded. */
export type IgnoredReport =
  | Refusal
  | "no_aggregate"
  | "unknown"
  | "other_domain"
  | "out_of_range"
  | "repeated"
  | "too_many_reports";

/** Reports of a domain within 24 hours. Large senders receive some 200. */
export const reportsPerDayMax = 500;
/** Rows of one report, and of one day of a domain. What is beyond is counted without its source. */
const rowsPerReportMax = 200;
const rowsPerDayMax = 2_000;

/**
 * Records the aggregate reports of a message for the domains whose addresses received it, each once. Anyone
 * can send a report to such an address, because it is public in DNS: what they say is claimed, and bounded.
 */
export async function receiveAggregates(
  { hot, log }: Pick<Deps, "hot" | "log">,
  domainIds: ReadonlySet<string>,
  { reports, refused }: Aggregates,
): Promise<(IgnoredReport | "recorded")[]> {
  const results: (IgnoredReport | "recorded")[] = [...refused];
  for (const domainId of domainIds)
    for (const report of reports) {
      const result = await hot.begin((tx) => recordReport(tx, domainId, report));
      if (result === "recorded") log.info("report.recorded", { domainId, kind: report.kind });
      results.push(result);
    }
  return results.length > 0 ? results : ["no_aggregate"];
}

type Domain = { teamId: string; name: string; selectors: string[]; received: number; isInRange: boolean };

/** Locks the domain, so that the limits do not depend on what is recorded at the same time. */
async function recordReport(
  tx: TransactionSql,
  domainId: string,
  report: AggregateReport,
): Promise<IgnoredReport | "recorded"> {
  const { kind, reporter, hash, beginsAt, endsAt } = report;
  await tx`select from domains where id = ${domainId} for no key update`;
  const [domain] = await tx<Domain[]>`
    select team_id as "teamId", name,
      array(select k.selector from dkim_keys k where k.team_id = d.team_id and k.domain_id = d.id) as selectors,
      (select count(*)::int from domain_reports r where r.team_id = d.team_id and r.domain_id = d.id
        and r.received_at > now() - interval '1 day') as received,
      ${beginsAt}::timestamptz > now() - ${keptDays} * interval '1 day'
        and ${endsAt}::timestamptz < now() + interval '1 day' as "isInRange"
    from domains d where id = ${domainId}`;
  if (!domain) return "unknown";
  const { teamId, name } = domain;
  const rows = report.rows.filter((row) => row.domain === name || row.domain.endsWith(`.${name}`));
  if (rows.length === 0) return "other_domain";
  if (!domain.isInRange) return "out_of_range";
  if (domain.received >= reportsPerDayMax) return "too_many_reports";
  const { count: added } = await tx`
    insert into domain_reports (team_id, domain_id, kind, reporter, report_hash, ends_at)
    values (${teamId}, ${domainId}, ${kind}, ${reporter}, ${hash}, ${endsAt}) on conflict do nothing`;
  if (added === 0) return "repeated";
  await addCounts(tx, { ...domain, id: domainId }, { ...report, rows });
  return "recorded";
}

async function addCounts(
  tx: TransactionSql,
  { teamId, id, name, selectors }: Domain & { id: string },
  { kind, reporter, beginsAt, rows }: AggregateReport,
): Promise<void> {
  const day = beginsAt.toISOString().slice(0, 10);
  const [stored] = await tx<{ rows: number }[]>`
    select count(*)::int as rows from domain_report_counts
    where team_id = ${teamId} and domain_id = ${id} and kind = ${kind} and day = ${day}`;
  const sending = await tx<{ source: string }[]>`
    select distinct source from destination_states where source = any(${rows.map(({ source }) => source)}::text[])`;
  const addresses = new Set(sending.map(({ source }) => source));
  const isOurs = ({ source, signatures }: ReportRow) =>
    addresses.has(source) ||
    signatures.some(({ domain, selector }) => domain === name && selectors.includes(selector));
  const counts = sumUp(
    rows.map((row) => ({
      source: row.source,
      detail: row.detail,
      isOurs: kind === "dmarc" && isOurs(row),
      isAligned: row.isAligned,
      count: row.count,
    })),
    Math.max(0, Math.min(rowsPerReportMax, rowsPerDayMax - (stored?.rows ?? 0))),
  );
  const of = <T>(value: (count: Count) => T) => counts.map(value);
  await tx`
    insert into domain_report_counts as c
      (team_id, domain_id, kind, source, day, reporter, detail, is_ours, is_aligned, count)
    select ${teamId}::uuid, ${id}::uuid, ${kind}, r.source, ${day}::date, ${reporter}, r.detail, r.is_ours, r.is_aligned, r.count
    from unnest(${of(({ source }) => source)}::text[], ${of(({ detail }) => detail)}::text[],
      ${of((each) => String(each.isOurs))}::bool[], ${of(({ isAligned }) => String(isAligned))}::bool[],
      ${of(({ count }) => count)}::bigint[]) as r(source, detail, is_ours, is_aligned, count)
    on conflict (team_id, domain_id, kind, source, day, reporter, detail, is_ours, is_aligned)
      do update set count = c.count + excluded.count`;
}

type Count = { source: string; detail: string; isOurs: boolean; isAligned: boolean; count: number };

/** One row for each source and result, the largest first; those beyond the limit without their source. */
function sumUp(rows: readonly Count[], limit: number): Count[] {
  const largest = merge(rows).sort((a, b) => b.count - a.count);
  const beyond = largest.slice(limit).map((row) => ({ ...row, source: "", detail: "" }));
  return merge([...largest.slice(0, limit), ...beyond]);
}

function merge(rows: readonly Count[]): Count[] {
  const sums = new Map<string, Count>();
  for (const row of rows) {
    const key = JSON.stringify([row.source, row.detail, row.isOurs, row.isAligned]);
    const sum = sums.get(key);
    if (sum) sum.count += row.count;
    else sums.set(key, { ...row });
  }
  return [...sums.values()];
}
