import { BUILT_IN_DOMAIN, type CheckKey, type RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { describeDomainName } from "#server/mail/address/domain-display";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { DNS_PANELS, type DnsPanel, formatForPanel } from "#server/mail/dns/panels";
import { formatZoneFile, type ZoneRecord } from "#server/mail/dns/zone-file";
import { type CheckedRecord, isCheckOf, recordsWithChecks } from "#server/services/domains/announce";
import type { PlannedDay } from "#server/services/domains/caps";
import { describeAlignment } from "#server/services/domains/check/alignment";
import { REQUIRED } from "#server/services/domains/check/evaluate";
import { DMARC_ADVISED, notesOf } from "#server/services/domains/check/records";
import type { BoundKey, BoundRelay } from "#server/services/domains/keys-and-relays";
import type { Domain } from "#server/services/domains/read";

/** The state of a domain in one word. */
export type DomainHealth =
  | "built_in"
  | "declared"
  | "verified"
  | "advice"
  | "failing"
  | "new"
  | "waiting"
  | "faulty";

const timeOf = (time: Date | null) => time?.toISOString() ?? null;

function healthOf({ name, status, declaredVerifiedAt, failingSince, checks }: Domain): DomainHealth {
  if (name === BUILT_IN_DOMAIN) return "built_in";
  if (declaredVerifiedAt !== null) return "declared";
  if (status === "verified") {
    if (failingSince !== null) return "failing";
    return checks.some((check) => check.status === "failed") ? "advice" : "verified";
  }
  if (status === "not_started") return "new";
  return status === "pending" || status === "partially_verified" ? "waiting" : "faulty";
}

/** A row of the domain list. Times are ISO 8601. */
export function viewDomainRow(domain: Domain) {
  return {
    id: domain.id,
    name: domain.name,
    ...describeDomainName(domain.name),
    health: healthOf(domain),
    lastCheckedAt: timeOf(domain.lastCheckedAt),
    nextCheckAt: timeOf(domain.nextCheckAt),
    expiresAt: timeOf(domain.expiresAt),
    dailyCap: domain.dailyCap,
    isWarmingUp: domain.warmUpFrom !== null,
    allowedToday: domain.allowedToday,
    handedOverToday: domain.handedOverToday,
    createdAt: domain.createdAt.toISOString(),
  };
}
export type DomainRow = ReturnType<typeof viewDomainRow>;

/** Where the domain's zone is edited: the DNS provider, and whether the domain is a zone of its own there. */
export type DnsPlace = { panel: DnsPanel; isOwnZone: boolean };

/** Data that is read in addition to the domain's row. */
type Related = { keys: BoundKey[]; relays: BoundRelay[]; plan: PlannedDay[] };

/** A domain with its records, each as entered at that DNS provider, and with the result of the last check. */
export function viewDomain(ctx: Ctx, domain: Domain, { panel, isOwnZone }: DnsPlace, related: Related) {
  const above = getRegisteredDomain(domain.name);
  const zone = isOwnZone ? domain.name : above;
  const records = recordsWithChecks(ctx, domain);
  const dmarc = domain.checks.find(({ key }) => key === "dmarc") ?? null;
  const dmarcRecord = {
    host: `_dmarc.${domain.name}`,
    type: "TXT" as const,
    value: DMARC_ADVISED,
  };
  return {
    ...viewDomainRow(domain),
    status: domain.status,
    isBuiltIn: domain.name === BUILT_IN_DOMAIN,
    isDeclared: domain.declaredVerifiedAt !== null,
    failingSince: domain.status === "verified" ? timeOf(domain.failingSince) : null,
    returnPath: `${domain.returnPathLabel}.${domain.name}`,
    tls: domain.tls,
    openTracking: domain.openTracking,
    clickTracking: domain.clickTracking,
    trackingSubdomain: domain.trackingSubdomain,
    warmUp:
      domain.warmUpFrom === null || domain.warmUpFirst === null || domain.warmUpGrowth === null
        ? null
        : {
            startDate: domain.warmUpFrom,
            firstDay: domain.warmUpFirst,
            growthPercent: domain.warmUpGrowth,
            target: domain.warmUpTarget,
            plan: related.plan,
          },
    zones: { above, own: domain.name, isOwn: isOwnZone },
    panel: { name: panel, way: DNS_PANELS[panel].way, textHint: DNS_PANELS[panel].textHint },
    panels: Object.entries(DNS_PANELS).map(([name, { title }]) => ({ name: name as DnsPanel, title })),
    records: [
      ...records.map((record) => ({
        ...viewRecord(record, zone, panel),
        purpose: record.key as CheckKey,
        isRequired: REQUIRED.includes(record.key),
        status: record.status,
        keptUntil: record.keptUntil ?? null,
        check: record.check && viewCheck(record.check),
      })),
      {
        ...viewRecord(dmarcRecord, zone, panel),
        purpose: "dmarc" as CheckKey,
        isRequired: false,
        status: dmarc?.status ?? ("not_started" as const),
        keptUntil: null,
        check: dmarc && viewCheck(dmarc),
      },
    ],
    alsoChecked: domain.checks
      .filter((check) => check.key !== "dmarc" && !records.some((record) => isCheckOf(check, record)))
      .map(viewCheck),
    notes: notesOf(domain, ctx),
    dkimKeys: domain.dkimKeys.map(({ id, algorithm, selector, stage, keptUntil }) => ({
      id,
      algorithm,
      selector,
      stage,
      keptUntil,
    })),
    alignment: describeAlignment(domain),
    zoneFile: zoneFileOf(domain.name, records, dmarc?.status === "verified"),
    keys: related.keys,
    relays: related.relays,
  };
}
export type DomainView = ReturnType<typeof viewDomain>;
export type DomainRecordView = DomainView["records"][number];
export type RecordCheckView = NonNullable<DomainRecordView["check"]>;

function viewRecord(
  { host, type, value, priority }: Pick<CheckedRecord, "host" | "type" | "value" | "priority">,
  zone: string,
  panel: DnsPanel,
) {
  const typed = formatForPanel(
    panel,
    { host, type, value, ...(priority === undefined ? {} : { priority }) },
    zone,
  );
  return { host, type, value, typed };
}

const viewCheck = ({
  key,
  askedName,
  type,
  resolver,
  expected,
  answers,
  status,
  fault,
  advice,
}: RecordCheck) => ({
  key,
  askedName,
  type,
  resolver,
  expected,
  answers,
  status,
  fault,
  advice,
});

const PURPOSES: Record<CheckKey, string> = {
  dkim: "DKIM: the signing key",
  dkim_next: "DKIM: the next key; it signs once its record is found",
  dkim_ed25519: "DKIM: a second key, for receivers that support Ed25519",
  dkim_retired: "DKIM: a retired key, for email that is still in transit",
  ownership: "Proves that you own the domain",
  mx: "MX: receives bounces",
  spf: "SPF: authorized senders for this return path",
  tracking: "Tracking links",
  domain_spf: "SPF of the domain itself",
  dmarc: "DMARC: policy for email that fails authentication",
};

function zoneFileOf(name: string, records: readonly CheckedRecord[], hasPolicy: boolean): string {
  const lines: ZoneRecord[] = records.map((record) => ({ ...record, purpose: PURPOSES[record.key] }));
  lines.push({
    host: `_dmarc.${name}`,
    type: "TXT",
    value: DMARC_ADVISED,
    purpose: hasPolicy ? `${PURPOSES.dmarc} (already published)` : PURPOSES.dmarc,
    isCommented: hasPolicy,
  });
  return formatZoneFile(`DNS records for email from ${name}`, lines);
}
