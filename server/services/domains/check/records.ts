import type { Deps } from "#server/deps";
import { findMixedLabels } from "#server/mail/address/domain-display";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { formatDkimRecord } from "#server/mail/dkim/key";
import { formatSpfRecord } from "#server/mail/dns/spf/record";
import type { DomainNote, DomainRecord } from "#server/shared/wire/domain";
import type { Domain, DomainKey } from "../read";
import { type ReportAddressDeps, reportAddressOf } from "../report-address";
import { receivesBounces, returnPathHostOf } from "../return-path";

type Installation = Pick<Deps, "names" | "transportKind">;

const mxPriority = 10;
const tokenPrefix = "backstamp-verification=";

/**
 * The record by which a DMARC policy is published; recommended, not required. Reports come to this
 * installation if the address needs no consent of another domain.
 */
export function dmarcRecordOf(domain: Domain, deps: ReportAddressDeps): string {
  const to = reportAddressOf(domain, deps);
  const policy = "v=DMARC1; p=none;";
  return to === null || to.consentHost !== null ? policy : `${policy} rua=mailto:${to.address};`;
}

/** The host name that the settings choose for tracked links; null for that of the installation. */
export const trackingHostOf = ({
  name,
  trackingSubdomain,
}: Pick<Domain, "name" | "trackingSubdomain">): string | null =>
  trackingSubdomain ? `${trackingSubdomain}.${name}` : null;

/** Whether a text is an ownership token, of this team or another. */
export const isOwnershipText = (text: string): boolean => text.replace(/^"/, "").startsWith(tokenPrefix);

/** How a name is entered in a DNS panel for its registered domain; `@` is that domain itself. */
export function labelIn(domain: string, host: string): string {
  const zone = getRegisteredDomain(domain);
  return host === zone ? "@" : host.slice(0, -zone.length - 1);
}

/** All records to publish whose value is known. `notesOf` explains the missing ones. */
export function recordsOf(domain: Domain, { names, transportKind }: Installation): DomainRecord[] {
  const { name, ownershipToken } = domain;
  const trackingHost = trackingHostOf(domain);
  const records: Omit<DomainRecord, "name">[] = domain.dkimKeys.map((key) => ({
    key: purposeOf(key, domain.dkimKeys),
    record: "DKIM",
    type: "TXT",
    host: `${key.selector}._domainkey.${name}`,
    value: formatDkimRecord(key.algorithm, key.publicKey),
    ...(key.stage === "retired" && { keptUntil: key.keptUntil }),
  }));
  if (ownershipToken) {
    const value = tokenPrefix + ownershipToken;
    records.push({ key: "ownership", record: "DKIM", type: "TXT", host: `_backstamp.${name}`, value });
  }
  if (names.mailHost) {
    const host = returnPathHostOf(domain);
    const { mailHost } = names;
    records.push({ key: "mx", record: "SPF", type: "MX", host, value: mailHost, priority: mxPriority });
    if (!leavesByRelay(domain, transportKind))
      records.push({ key: "spf", record: "SPF", type: "TXT", host, value: formatSpfRecord(mailHost) });
  }
  if (trackingHost && names.webHost)
    records.push({
      key: "tracking",
      record: "Tracking",
      type: "CNAME",
      host: trackingHost,
      value: names.webHost,
    });
  return records.map((record) => ({
    ...record,
    // The API writes the names of tracking records in full.
    name: record.key === "tracking" ? record.host : labelIn(name, record.host),
  }));
}

/** Then the relay's servers send the email. In capture mode no server does. */
const leavesByRelay = ({ isRelayed }: Domain, transportKind: Installation["transportKind"]): boolean =>
  transportKind === "relay" || (isRelayed && transportKind !== "capture");

/**
 * The purpose of a key's record. Verification requires the record of the RSA signing key; all others are
 * optional.
 */
function purposeOf({ algorithm, stage }: DomainKey, keys: readonly DomainKey[]): DomainRecord["key"] {
  if (stage === "retired") return "dkim_retired";
  if (algorithm === "ed25519") return "dkim_ed25519";
  const hasPredecessor = keys.some((key) => key.algorithm === "rsa" && key.stage === "signing");
  return stage === "waiting" && hasPredecessor ? "dkim_next" : "dkim";
}

/**
 * One sentence for each record that cannot be specified here, because its absence would otherwise look
 * complete; and a warning about a name that can be mistaken for another.
 */
export function notesOf(
  domain: Domain,
  { names, policy, transportKind }: Installation & Pick<Deps, "policy">,
): DomainNote[] {
  const notes: DomainNote[] = [];
  const add = (about: DomainNote["about"], text: string) => notes.push({ about, text });
  const mixed = findMixedLabels(domain.name).map(
    ({ label, scripts }) => `"${label}" mixes letters of several scripts (${scripts.join(", ")}).`,
  );
  if (mixed.length > 0)
    add(
      "Name",
      `${mixed.join(" ")} Readers and mail servers may take it for an imitation of another name. In DNS the domain is ${domain.name}.`,
    );
  const host = returnPathHostOf(domain);
  if (leavesByRelay(domain, transportKind))
    add(
      "SPF",
      "Email leaves through an SMTP relay, whose servers are not known here. Publish the SPF record that the relay's provider specifies, at the name it specifies.",
    );
  else if (!names.mailHost)
    add("SPF", `BACKSTAMP_HOSTNAME is not set, so no SPF record for ${host} is listed.`);
  if (!names.mailHost)
    add(
      "MX",
      names.returnPathDomain
        ? `BACKSTAMP_HOSTNAME is not set, so no MX record for ${host} is listed. Bounces are received at ${names.returnPathDomain}, which needs no record in your zone. The operator of this installation sets BACKSTAMP_HOSTNAME.`
        : `Neither BACKSTAMP_HOSTNAME nor BACKSTAMP_RETURN_PATH_DOMAIN is set, so bounces cannot be received and no MX record for ${host} is listed. The operator of this installation sets them.`,
    );
  else if (transportKind === "direct" && !domain.isRelayed && !receivesBounces({ names, policy }))
    add(
      "MX",
      `BACKSTAMP_INBOUND_PORT is not set, so this installation receives no bounces at ${host}, and email has another return path. The operator of this installation sets it.`,
    );
  if (domain.trackingSubdomain && !names.webHost)
    add(
      "Tracking",
      `BACKSTAMP_URL is not set to a public name, so no CNAME record for ${domain.trackingSubdomain}.${domain.name} is listed.`,
    );
  if (domain.receiving)
    add(
      "Receiving",
      "Backstamp does not receive email for domains: `receiving` is stored and has no effect.",
    );
  return notes;
}
