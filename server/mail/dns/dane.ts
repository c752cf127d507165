import { createHash, type X509Certificate } from "node:crypto";
import type { QueryDns, Tlsa } from "./dns";

/**
 * What the TLSA records of an MX host require. `records` are those that apply to SMTP; without any, TLS is
 * required with any certificate (RFC 7672 section 2.2). `names` are the host's, one of which a certificate of
 * usage DANE-TA must have. `id` differs if the records do.
 */
export type Dane = { id: string; records: readonly Tlsa[]; names: readonly string[] };

const TRUST_ANCHOR = 2;
const END_ENTITY = 3;
/** Hash and length of the association data by matching type; type 0 is the content itself. */
const HASHES = [null, { name: "sha256", bytes: 32 }, { name: "sha512", bytes: 64 }] as const;
const chainMax = 10;

/**
 * Finds the TLSA records of an MX host whose names are proved by DNSSEC (RFC 7672 section 2.2.2), at the
 * first name that has some. Null without any, or if they are not validated. `fault`: the lookup failed, which
 * an attacker could cause, so this host must not be used now.
 */
export async function findDane(
  dns: QueryDns,
  names: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Dane | { fault: string } | null> {
  for (const name of names) {
    const answer = await dns(`_${port}._tcp.${name}`, "TLSA", signal);
    if (answer.kind === "servfail" || answer.kind === "timeout")
      return { fault: `The DNS lookup of the TLSA records (DANE) of ${name} failed.` };
    if (answer.kind !== "answer" || !answer.isSecure) continue;
    const id = answer.records.map(formatTlsa).sort().join(",");
    return { id, records: answer.records.filter(isUsable), names };
  }
  return null;
}

export const formatTlsa = ({ usage, selector, matchingType, certificate }: Tlsa): string =>
  `${usage} ${selector} ${matchingType} ${certificate.toString("hex")}`;

/** SMTP has no common set of authorities, so usages 0 and 1 do not apply (RFC 7672 section 3.1.3). */
function isUsable({ usage, selector, matchingType, certificate }: Tlsa): boolean {
  if ((usage !== TRUST_ANCHOR && usage !== END_ENTITY) || selector > 1) return false;
  const hash = HASHES[matchingType];
  return hash === null ? certificate.length > 0 : hash?.bytes === certificate.length;
}

/**
 * Whether a TLSA record proves the certificate that a server presented, with its chain. DANE-EE (3): only the
 * key or certificate counts, not its names and validity. DANE-TA (2): the chain leads to the authority with
 * valid signatures, all its certificates are within their time, and the first has a name of the host (RFC
 * 7671 section 5).
 */
export function isProvedByDane(leaf: X509Certificate, { records, names }: Dane, now: Date): boolean {
  const isNamedBy = (usage: number, certificate: X509Certificate) =>
    records.some((record) => record.usage === usage && matches(record, certificate));
  if (isNamedBy(END_ENTITY, leaf)) return true;
  if (!names.some((name) => leaf.checkHost(name) !== undefined) || !isCurrent(leaf, now)) return false;
  let subject = leaf;
  for (let depth = 1; depth < chainMax; depth += 1) {
    const issuer = subject.issuerCertificate;
    const isIssuer = issuer?.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
    if (!isIssuer || !isCurrent(issuer, now)) return false;
    if (isNamedBy(TRUST_ANCHOR, issuer)) return true;
    subject = issuer;
  }
  return false;
}

const isCurrent = ({ validFrom, validTo }: X509Certificate, now: Date): boolean =>
  Date.parse(validFrom) <= now.getTime() && now.getTime() <= Date.parse(validTo);

function matches({ selector, matchingType, certificate }: Tlsa, presented: X509Certificate): boolean {
  const content =
    selector === 0 ? presented.raw : presented.publicKey.export({ type: "spki", format: "der" });
  const hash = HASHES[matchingType];
  return certificate.equals(hash ? createHash(hash.name).update(content).digest() : content);
}
