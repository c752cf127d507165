import type { QueryDns } from "./dns";

/**
 * The MX hosts of a domain. found: host names in the order to try them; `isSecure` if DNSSEC proves them.
 * refused: the domain's records say that it does not accept email. missing: the name does not exist, which
 * may be one wrong DNS answer. unsure: DNS gave no valid answer.
 */
export type MxHosts = { kind: "found"; hosts: string[]; isSecure: boolean } | NotFound;

/**
 * Allowed addresses of one MX host; the other kinds as in `MxHosts`. `secureNames`: its name and the one at
 * the end of its aliases, the last first; none unless DNSSEC proves all addresses.
 */
export type Reachable = { kind: "found"; addresses: string[]; secureNames: string[] } | NotFound;

type NotFound = { kind: "refused" | "missing" | "unsure"; reason: string };

/**
 * Finds the MX hosts of a domain (RFC 5321 section 5.1), by preference. Hosts of equal preference are in
 * random order to distribute the load. A domain without MX records is its own MX host. A null MX (RFC 7505)
 * gives `refused`. A failed query gives `unsure`, never an empty list.
 */
export async function findMxHosts(
  dns: QueryDns,
  domain: string,
  random: () => number,
  signal: AbortSignal,
): Promise<MxHosts> {
  const answer = await dns(domain, "MX", signal);
  const isSecure = answer.isSecure === true;
  switch (answer.kind) {
    case "nxdomain":
      return { kind: "missing", reason: `The domain ${domain} does not exist.` };
    case "nodata":
      return { kind: "found", hosts: [domain], isSecure };
    case "answer":
      break;
    default:
      return { kind: "unsure", reason: `The DNS lookup of the MX records of ${domain} failed.` };
  }
  const hosts = answer.records
    .map(({ exchange, priority }) => ({
      host: exchange.replace(/\.$/, "").toLowerCase(),
      priority,
      order: random(),
    }))
    .filter(({ host }) => host !== "")
    .sort((one, other) => one.priority - other.priority || one.order - other.order)
    .map(({ host }) => host);
  if (hosts.length === 0) return { kind: "refused", reason: `${domain} does not accept email (null MX).` };
  return { kind: "found", hosts: [...new Set(hosts)], isSecure };
}

/**
 * Resolves an MX host, IPv4 before IPv6, because receivers filter email over IPv6 more strictly. Addresses
 * that `canConnectTo` rejects are omitted: a domain's owner controls where its MX records point.
 */
export async function resolveAllowedAddresses(
  dns: QueryDns,
  host: string,
  canConnectTo: (address: string) => boolean,
  signal: AbortSignal,
): Promise<Reachable> {
  const [v4, v6] = await Promise.all([dns(host, "A", signal), dns(host, "AAAA", signal)]);
  const answers = [v4, v6].flatMap((answer) => (answer.kind === "answer" ? [answer] : []));
  const found = answers.flatMap(({ records }) => records);
  const addresses = found.filter(canConnectTo);
  if (addresses.length > 0) {
    const isSecure = answers.every((answer) => answer.isSecure);
    const names = [...answers.map(({ owner = host }) => owner.toLowerCase()), host];
    return { kind: "found", addresses, secureNames: isSecure ? [...new Set(names)] : [] };
  }
  if (found.length > 0) return { kind: "refused", reason: `${host} has no public IP address.` };
  const isCertain = [v4, v6].every(({ kind }) => kind === "nxdomain" || kind === "nodata");
  return isCertain
    ? { kind: "missing", reason: `${host} has no address in DNS.` }
    : { kind: "unsure", reason: `The DNS lookup of ${host} failed.` };
}
