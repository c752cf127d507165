import type { RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { seenRecords } from "#server/services/domains/announce-domain";
import type { Domain } from "#server/services/domains/read";
import { DMARC_ADVISED, labelIn, notesOf } from "#server/services/domains/records";

const capability = (isOn: boolean) => (isOn ? "enabled" : "disabled");
const timeOf = (time: Date | null) => time?.toISOString() ?? null;

/** A domain without its records, as lists show it. */
export function domainSummaryJson(domain: Domain) {
  return {
    id: domain.id,
    name: domain.name,
    status: domain.status,
    created_at: domain.createdAt.toISOString(),
    region: domain.region,
    capabilities: { sending: capability(domain.sending), receiving: capability(domain.receiving) },
    open_tracking: domain.openTracking,
    click_tracking: domain.clickTracking,
    tracking_subdomain: domain.trackingSubdomain,
    custom_return_path: domain.returnPathLabel,
    tls: domain.tls,
    declared_verified: domain.declaredVerifiedAt !== null,
    failing_since: domain.status === "verified" ? timeOf(domain.failingSince) : null,
    last_checked_at: timeOf(domain.lastCheckedAt),
    next_check_at: timeOf(domain.nextCheckAt),
  };
}

/**
 * A domain with its records, each with what the last look saw of it; beside them DMARC, which is advice, what else was
 * looked at, and what is not known here.
 */
export function domainJson(ctx: Pick<Ctx, "names" | "transportKind">, domain: Domain) {
  const records = seenRecords(ctx, domain);
  const listed = new Set<string>(records.map(({ key }) => key));
  const dmarc = domain.checks.find(({ key }) => key === "dmarc");
  return {
    object: "domain",
    ...domainSummaryJson(domain),
    records: records.map((record) => ({
      record: record.record,
      name: record.name,
      type: record.type,
      value: record.value,
      ttl: "Auto",
      status: record.status,
      ...(record.priority === undefined ? {} : { priority: record.priority }),
      ...(record.type === "CNAME" ? { proxy_status: "disable" } : {}),
      host: record.host,
      purpose: record.key,
      check: record.check && checkJson(record.check),
    })),
    dmarc: {
      name: labelIn(domain.name, `_dmarc.${domain.name}`),
      type: "TXT",
      value: DMARC_ADVISED,
      ttl: "Auto",
      status: dmarc?.status ?? "not_started",
      host: `_dmarc.${domain.name}`,
      check: dmarc ? checkJson(dmarc) : null,
    },
    also_checked: domain.checks
      .filter(({ key }) => key !== "dmarc" && !listed.has(key))
      .map((check) => ({ purpose: check.key, status: check.status, check: checkJson(check) })),
    notes: notesOf(domain, ctx),
  };
}

function checkJson({ askedName, type, resolver, expected, answers, fault, advice }: RecordCheck) {
  return { asked_name: askedName, asked_type: type, resolver, expected, answers, fault, advice };
}
