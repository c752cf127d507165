import { BUILT_IN_DOMAIN, type CheckKey, type RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { DNS_PANELS, type DnsPanel, typeInPanel } from "#server/mail/dns-panels";
import { registeredDomainOf } from "#server/mail/registered-domain";
import { showName } from "#server/mail/shown-name";
import { formatZoneFile, type ZoneRecord } from "#server/mail/zone-file";
import { sayAlignment } from "#server/services/domains/alignment";
import { isOfRecord, type SeenRecord, seenRecords } from "#server/services/domains/announce-domain";
import type { BoundKey, BoundRelay } from "#server/services/domains/bound";
import type { PlannedDay } from "#server/services/domains/caps";
import { REQUIRED } from "#server/services/domains/judge";
import type { Domain } from "#server/services/domains/read";
import { DMARC_ADVISED, notesOf } from "#server/services/domains/records";

/** A domain in one word, for whoever only wants to know whether to look closer. */
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

/** A domain as a line of the list. Times are ISO 8601. */
export function viewDomainRow(domain: Domain) {
  return {
    id: domain.id,
    name: domain.name,
    ...showName(domain.name),
    health: healthOf(domain),
    lastCheckedAt: timeOf(domain.lastCheckedAt),
    nextCheckAt: timeOf(domain.nextCheckAt),
    dailyCap: domain.dailyCap,
    isWarmingUp: domain.warmUpFrom !== null,
    allowedToday: domain.allowedToday,
    handedOverToday: domain.handedOverToday,
    createdAt: domain.createdAt.toISOString(),
  };
}
export type DomainRow = ReturnType<typeof viewDomainRow>;

/** How whoever looks edits the domain's zone: with which provider, and whether the domain is a zone of its own there. */
export type DnsPlace = { panel: DnsPanel; isOwnZone: boolean };

/** What was read of a domain beside its own row. */
type Beside = { keys: BoundKey[]; relays: BoundRelay[]; plan: PlannedDay[] };

/** A domain with its records, each as that provider wants it typed, and with what the last look saw of it. */
export function viewDomain(ctx: Ctx, domain: Domain, { panel, isOwnZone }: DnsPlace, beside: Beside) {
  const above = registeredDomainOf(domain.name);
  const zone = isOwnZone ? domain.name : above;
  const records = seenRecords(ctx, domain);
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
            plan: beside.plan,
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
      .filter((check) => check.key !== "dmarc" && !records.some((record) => isOfRecord(check, record)))
      .map(viewCheck),
    notes: notesOf(domain, ctx),
    dkimKeys: domain.dkimKeys.map(({ id, algorithm, selector, stage, keptUntil }) => ({
      id,
      algorithm,
      selector,
      stage,
      keptUntil,
    })),
    alignment: sayAlignment(domain),
    zoneFile: zoneFileOf(domain.name, records, dmarc?.status === "verified"),
    keys: beside.keys,
    relays: beside.relays,
  };
}
export type DomainView = ReturnType<typeof viewDomain>;
export type DomainRecordView = DomainView["records"][number];
export type RecordCheckView = NonNullable<DomainRecordView["check"]>;

function viewRecord(
  { host, type, value, priority }: Pick<SeenRecord, "host" | "type" | "value" | "priority">,
  zone: string,
  panel: DnsPanel,
) {
  const typed = typeInPanel(
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
  dkim: "DKIM: the key that mail is signed with",
  dkim_next: "DKIM: the key that takes over once it is seen",
  dkim_ed25519: "DKIM: a second key, for receivers that know Ed25519",
  dkim_retired: "DKIM: an earlier key, kept for mail that is under way",
  ownership: "Shows that the domain is yours",
  mx: "Where bounces come back to",
  spf: "SPF: who may send with this return path",
  tracking: "Links of tracked mail",
  domain_spf: "SPF of the domain itself",
  dmarc: "DMARC: what receivers do with mail that fails",
};

function zoneFileOf(name: string, records: readonly SeenRecord[], hasPolicy: boolean): string {
  const lines: ZoneRecord[] = records.map((record) => ({ ...record, purpose: PURPOSES[record.key] }));
  lines.push({
    host: `_dmarc.${name}`,
    type: "TXT",
    value: DMARC_ADVISED,
    purpose: hasPolicy ? `${PURPOSES.dmarc} (one is there already)` : PURPOSES.dmarc,
    isCommented: hasPolicy,
  });
  return formatZoneFile(`Records for mail from ${name}`, lines);
}
