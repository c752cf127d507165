import type { CheckKey } from "#db/schema/domains";
import type { Deps } from "#server/deps";
import { formatDkimRecord } from "#server/mail/dkim/key";
import { mixedLabelsOf } from "#server/mail/mixed-scripts";
import { registeredDomainOf } from "#server/mail/registered-domain";
import type { Domain, DomainKey } from "./read";

/** One record that the owner of a domain publishes, in the closed kinds of the dialect. */
export type DomainRecord = {
  key: Exclude<CheckKey, "domain_spf" | "dmarc">;
  /** The token that proves the team's right to the name goes as `DKIM`: whoever publishes all of a list publishes it too. */
  record: "SPF" | "DKIM" | "Tracking";
  type: "TXT" | "MX" | "CNAME";
  /** The full name. */
  host: string;
  /** What a panel for the registered domain wants to be given, which adds that domain by itself. */
  name: string;
  value: string;
  priority?: number;
  /** Of the record of a key that is not signed with any more: until when it has to stay, in ISO 8601. */
  keptUntil?: string | null;
};

/** What this installation cannot tell the owner of a domain to publish, and why. */
export type Note = { about: "Name" | "SPF" | "MX" | "Tracking" | "Receiving"; text: string };

type Installation = Pick<Deps, "names" | "transportKind">;

const mxPriority = 10;
const tokenPrefix = "posthorn-verification=";

/** The record by which a receiver's DMARC policy is asked for; advice, and not required. */
export const DMARC_ADVISED = "v=DMARC1; p=none;";

export const returnPathHostOf = ({ returnPathLabel, name }: Domain): string => `${returnPathLabel}.${name}`;

/** Whether a text is a token of some team, be it this one's or another's. */
export const isOwnershipText = (text: string): boolean => text.replace(/^"/, "").startsWith(tokenPrefix);

/** How a name is written in a panel for the registered domain that it is part of; `@` is that domain itself. */
export function labelIn(domain: string, host: string): string {
  const zone = registeredDomainOf(domain);
  return host === zone ? "@" : host.slice(0, -zone.length - 1);
}

/** Everything to publish whose value is known. What is not known is left out here, and told by `notesOf`. */
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
      host: `_posthorn.${name}`,
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
    // The dialect writes hosts of tracking in full.
    name: record.key === "tracking" ? record.host : labelIn(name, record.host),
  }));
}

/** Then it is the relay's servers that send, and not ours. What is captured is nobody's business. */
const leavesByRelay = ({ isRelayed }: Domain, transportKind: Installation["transportKind"]): boolean =>
  transportKind === "relay" || (isRelayed && transportKind !== "capture");

/** What the record of a key is for. Without that of RSA's signing key nothing is verified; all others are welcome. */
function purposeOf({ algorithm, stage }: DomainKey, keys: readonly DomainKey[]): DomainRecord["key"] {
  if (stage === "retired") return "dkim_retired";
  if (algorithm === "ed25519") return "dkim_ed25519";
  const isFollowing = keys.some((key) => key.algorithm === "rsa" && key.stage === "signing");
  return stage === "waiting" && isFollowing ? "dkim_next" : "dkim";
}

/** What lets our mail server pass in an SPF record. */
export const spfTermOf = (mailHost: string): string => `a:${mailHost}`;

/**
 * A sentence for each thing that is not known here, so that nobody takes its absence for an all-clear; and a warning of a
 * name that may be taken for another one.
 */
export function notesOf(domain: Domain, { names, transportKind }: Installation): Note[] {
  const notes: Note[] = [];
  const mixed = mixedLabelsOf(domain.name).map(
    ({ label, scripts }) => `"${label}" mixes letters of several scripts (${scripts.join(", ")}).`,
  );
  if (mixed.length > 0)
    notes.push({
      about: "Name",
      text: `${mixed.join(" ")} Who reads it may take it for an imitation of another name, and so may mail servers. In DNS the domain is ${domain.name}.`,
    });
  const host = returnPathHostOf(domain);
  if (leavesByRelay(domain, transportKind))
    notes.push({
      about: "SPF",
      text: "Mail leaves through an SMTP relay, whose servers are not known here. Publish the SPF record that the relay's provider names, where it says.",
    });
  else if (!names.mailHost)
    notes.push({
      about: "SPF",
      text: `The name of the server that sends mail is not known here: POSTHORN_HOSTNAME is not set. So no SPF record for ${host} is listed.`,
    });
  if (!names.mailHost)
    notes.push({
      about: "MX",
      text: names.returnPathDomain
        ? `POSTHORN_HOSTNAME is not set, so no MX record for ${host} is listed. Bounces can come back to ${names.returnPathDomain}, which needs no record of yours.`
        : `Where bounces should come back to is not known here: neither POSTHORN_HOSTNAME nor POSTHORN_RETURN_PATH_DOMAIN is set. So no MX record for ${host} is listed.`,
    });
  if (domain.trackingSubdomain && !names.webHost)
    notes.push({
      about: "Tracking",
      text: `The public name of the web site is not known here: POSTHORN_URL is not set to one. So no CNAME record for ${domain.trackingSubdomain}.${domain.name} is listed.`,
    });
  if (domain.receiving)
    notes.push({
      about: "Receiving",
      text: "Posthorn sends mail and takes none in for a domain: `receiving` is kept as it was given and has no effect.",
    });
  return notes;
}
