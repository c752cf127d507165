import type { Deps } from "#server/deps";
import { findMixedLabels } from "#server/mail/address/domain-display";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { formatDkimRecord } from "#server/mail/dkim/key";
import type { DomainNote, DomainRecord } from "#server/shared/wire/domain";
import type { Domain, DomainKey } from "../read";

type Installation = Pick<Deps, "names" | "transportKind">;

const mxPriority = 10;
const tokenPrefix = "backstamp-verification=";

/** The record by which a DMARC policy is published; recommended, not required. */
export const DMARC_ADVISED = "v=DMARC1; p=none;";

export const returnPathHostOf = ({ returnPathLabel, name }: Domain): string => `${returnPathLabel}.${name}`;

/** Whether a text is an ownership token, of this team or another. */
export const isOwnershipText = (text: string): boolean => text.replace(/^"/, "").startsWith(tokenPrefix);

/** How a name is entered in a DNS panel for its registered domain; `@` is that domain itself. */
export function labelIn(domain: string, host: string): string {
  const zone = getRegisteredDomain(domain);
  return host === zone ? "@" : host.slice(0, -zone.length - 1);
}

/** All records to publish whose value is known. `notesOf` explains the missing ones. */
export function recordsOf(domain: Domain, { names, transportKind }: Installation): DomainRecord[] {
  const { name, ownershipToken, trackingSubdomain } = domain;
  const records: Omit<DomainRecord, "name">[] = domain.dkimKeys.map((key) => ({
    key: purposeOf(key, domain.dkimKeys),
    record: "DKIM",
    type: "TXT",
    host: `${key.selector}._domainkey.${name}`,
    value: formatDkimRecord(key.algorithm, key.publicKey),
    ...(key.stage === "retired" && { keptUntil: key.keptUntil }),
  }));
  const returnPathHost = returnPathHostOf(domain);
  if (ownershipToken)
    records.push({
      key: "ownership",
      record: "DKIM",
      type: "TXT",
      host: `_backstamp.${name}`,
      value: tokenPrefix + ownershipToken,
    });
  if (names.mailHost) {
    records.push({
      key: "mx",
      record: "SPF",
      type: "MX",
      host: returnPathHost,
      value: names.mailHost,
      priority: mxPriority,
    });
    if (!leavesByRelay(domain, transportKind))
      records.push({
        key: "spf",
        record: "SPF",
        type: "TXT",
        host: returnPathHost,
        value: `v=spf1 ${spfTermOf(names.mailHost)} ~all`,
      });
  }
  if (trackingSubdomain && names.webHost)
    records.push({
      key: "tracking",
      record: "Tracking",
      type: "CNAME",
      host: `${trackingSubdomain}.${name}`,
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

/** The SPF term that authorizes our mail server. */
export const spfTermOf = (mailHost: string): string => `a:${mailHost}`;

/**
 * One sentence for each record that cannot be specified here, because its absence would otherwise look
 * complete; and a warning about a name that can be mistaken for another.
 */
export function notesOf(domain: Domain, { names, transportKind }: Installation): DomainNote[] {
  const notes: DomainNote[] = [];
  const mixed = findMixedLabels(domain.name).map(
    ({ label, scripts }) => `"${label}" mixes letters of several scripts (${scripts.join(", ")}).`,
  );
  if (mixed.length > 0)
    notes.push({
      about: "Name",
      text: `${mixed.join(" ")} Readers and mail servers may take it for an imitation of another name. In DNS the domain is ${domain.name}.`,
    });
  const host = returnPathHostOf(domain);
  if (leavesByRelay(domain, transportKind))
    notes.push({
      about: "SPF",
      text: "Mail leaves through an SMTP relay, whose servers are not known here. Publish the SPF record that the relay's provider specifies, at the name it specifies.",
    });
  else if (!names.mailHost)
    notes.push({
      about: "SPF",
      text: `BACKSTAMP_HOSTNAME is not set, so no SPF record for ${host} is listed.`,
    });
  if (!names.mailHost)
    notes.push({
      about: "MX",
      text: names.returnPathDomain
        ? `BACKSTAMP_HOSTNAME is not set, so no MX record for ${host} is listed. Bounces are received at ${names.returnPathDomain}, which needs no record in your zone.`
        : `Neither BACKSTAMP_HOSTNAME nor BACKSTAMP_RETURN_PATH_DOMAIN is set, so bounces cannot be received and no MX record for ${host} is listed.`,
    });
  if (domain.trackingSubdomain && !names.webHost)
    notes.push({
      about: "Tracking",
      text: `BACKSTAMP_URL is not set to a public name, so no CNAME record for ${domain.trackingSubdomain}.${domain.name} is listed.`,
    });
  if (domain.receiving)
    notes.push({
      about: "Receiving",
      text: "Backstamp does not receive email for domains: `receiving` is stored and has no effect.",
    });
  return notes;
}
