import type { AskDns } from "./dns";

/**
 * Where a domain takes its mail. found: the names of its mail servers, those to be tried first at the beginning.
 * refused: nowhere, as its own records say. missing: DNS knows no such name, which may be one wrong answer of DNS.
 * unsure: nobody could tell now.
 */
export type Exchanges = { kind: "found"; hosts: string[] } | NotFound;

/** Addresses of one mail server that may be connected to; the rest as above. */
export type Reachable = { kind: "found"; addresses: string[] } | NotFound;

type NotFound = { kind: "refused" | "missing" | "unsure"; reason: string };

/**
 * Asks who takes the mail of a domain (RFC 5321 section 5.1): its MX hosts by preference, equal ones in random order so
 * that they share the load; the domain itself where it has no MX record; nobody where the only one is the null MX
 * (RFC 7505). A list that cannot be read now is no empty one.
 */
export async function findExchanges(
  dns: AskDns,
  domain: string,
  random: () => number,
  signal: AbortSignal,
): Promise<Exchanges> {
  const answer = await dns(domain, "MX", signal);
  switch (answer.kind) {
    case "nxdomain":
      return { kind: "missing", reason: `There is no domain ${domain}.` };
    case "nodata":
      return { kind: "found", hosts: [domain] };
    case "answer":
      break;
    default:
      return { kind: "unsure", reason: `DNS could not tell which servers take mail for ${domain}.` };
  }
  const hosts = answer.records
    .map(({ exchange, priority }) => ({
      host: exchange.replace(/\.$/, "").toLowerCase(),
      priority,
      turn: random(),
    }))
    .filter(({ host }) => host !== "")
    .sort((one, other) => one.priority - other.priority || one.turn - other.turn)
    .map(({ host }) => host);
  if (hosts.length === 0)
    return { kind: "refused", reason: `${domain} says in DNS that it takes no mail (null MX).` };
  return { kind: "found", hosts: [...new Set(hosts)] };
}

/**
 * The addresses of a mail server, IPv4 before IPv6: receivers are stricter with what comes over IPv6. Those that
 * `mayReach` denies are left out, for whoever owns a domain chooses where its MX points.
 */
export async function reachableAddresses(
  dns: AskDns,
  host: string,
  mayReach: (address: string) => boolean,
  signal: AbortSignal,
): Promise<Reachable> {
  const [v4, v6] = await Promise.all([dns(host, "A", signal), dns(host, "AAAA", signal)]);
  const found = [v4, v6].flatMap((answer) => (answer.kind === "answer" ? answer.records : []));
  const addresses = found.filter(mayReach);
  if (addresses.length > 0) return { kind: "found", addresses };
  if (found.length > 0)
    return { kind: "refused", reason: `${host} has no address on the public Internet, only ${found[0]}.` };
  const isCertain = [v4, v6].every(({ kind }) => kind === "nxdomain" || kind === "nodata");
  return isCertain
    ? { kind: "missing", reason: `${host} has no address in DNS.` }
    : { kind: "unsure", reason: `DNS could not tell the address of ${host}.` };
}
