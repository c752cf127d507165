import { BUILT_IN_DOMAIN, type CheckKey } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { describeDomainName } from "#server/mail/address/domain-display";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { formatZoneFile, type ZoneRecord } from "#server/mail/dns/zone-file";
import { describeSetup } from "#server/services/domains/announce";
import type { getWarmUpPlan } from "#server/services/domains/caps";
import { describeAlignment } from "#server/services/domains/check/alignment";
import type { listKeysOfDomain, listRelaysOfDomain } from "#server/services/domains/keys-and-relays";
import type { Domain } from "#server/services/domains/read";
import { presentDomain, presentDomainSummary } from "#server/shared/wire/domain";

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

function healthOf({ name, status, declaredVerifiedAt, failingSince, checks }: Domain): DomainHealth {
  if (name === BUILT_IN_DOMAIN) return "built_in";
  if (declaredVerifiedAt !== null) return "declared";
  const setup = setupOf(status);
  if (setup !== null) return setup;
  if (failingSince !== null) return "failing";
  return checks.some((check) => check.status === "failed") ? "advice" : "verified";
}

/** How far the setup of a domain is; null if it is verified. */
export function setupOf(status: Domain["status"]): "new" | "waiting" | "faulty" | null {
  if (status === "verified") return null;
  if (status === "not_started") return "new";
  return status === "pending" || status === "partially_verified" ? "waiting" : "faulty";
}

/** A row of the domain list: the summary of the API, and how the console shows the name and the status. */
export const viewDomainRow = (domain: Domain) => ({
  ...presentDomainSummary(domain),
  ...describeDomainName(domain.name),
  health: healthOf(domain),
});
export type DomainRow = ReturnType<typeof viewDomainRow>;

/** Data that is read in addition to the domain's row. */
type Related = {
  keys: Awaited<ReturnType<typeof listKeysOfDomain>>;
  relays: Awaited<ReturnType<typeof listRelaysOfDomain>>;
  warmUpPlan: Awaited<ReturnType<typeof getWarmUpPlan>>;
};

/** The domain of the API, with how its records are entered at a DNS provider. */
export function viewDomain(ctx: Ctx, domain: Domain, related: Related) {
  const { dmarc, ...shown } = presentDomain(domain, describeSetup(ctx, domain));
  const zone = getRegisteredDomain(domain.name);
  const records = [
    ...shown.records,
    { ...dmarc, purpose: "dmarc" as const, required: false, keep_until: null, priority: undefined },
  ];
  return {
    ...shown,
    ...viewDomainRow(domain),
    zone,
    // The name without the zone, which many DNS providers append.
    records: records.map(({ priority, ...record }) => ({
      ...record,
      ...(priority !== undefined && { priority }),
      label: record.host === zone ? "@" : record.host.slice(0, -zone.length - 1),
    })),
    dkimKeys: domain.dkimKeys.map(({ publicKey: _, ...key }) => key),
    alignment: describeAlignment(domain, ctx),
    zoneFile: formatZoneFile(
      `DNS records for email from ${domain.name}`,
      records.map(({ purpose, status, priority, ...record }): ZoneRecord => {
        const isPublished = purpose === "dmarc" && status === "verified";
        return {
          ...record,
          ...(priority !== undefined && { priority }),
          purpose: `${PURPOSES[purpose]}${isPublished ? " (already published)" : ""}`,
          isCommented: isPublished,
        };
      }),
    ),
    ...related,
  };
}
export type DomainView = ReturnType<typeof viewDomain>;
export type DomainRecordView = DomainView["records"][number];
export type RecordCheckView = DomainView["also_checked"][number];

const PURPOSES: Record<CheckKey, string> = {
  dkim: "DKIM: the signing key",
  dkim_next: "DKIM: the next key; it signs once its record is found",
  dkim_ed25519: "DKIM: a second key, for receivers that support Ed25519",
  dkim_retired: "DKIM: a retired key, for email that is still in transit",
  ownership: "Proves that you own the domain",
  mx: "MX: receives bounces",
  spf: "SPF: authorized senders for this return path",
  tracking: "Tracking links",
  tracking_https: "Tracking links over HTTPS",
  domain_spf: "SPF of the domain itself",
  dmarc: "DMARC: policy for email that fails authentication",
};
