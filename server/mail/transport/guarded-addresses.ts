import { isIP } from "node:net";
import type { QueryDns } from "../dns/dns";
import { resolveAllowedAddresses } from "../dns/mx-hosts";

/** The allowed addresses of a server, or a sentence why there are none. */
export type FoundAddresses = { addresses: string[] } | { reason: string };

/** Maximum number of addresses per name. */
const addressesMax = 4;

/**
 * Resolves a host name that a team chose. If any address is not allowed, the whole name is rejected: DNS
 * rebinding returns an internal address only some of the time. The caller must connect to these addresses and
 * must not resolve the name again.
 */
export async function resolvePublicAddresses(
  dns: QueryDns,
  host: string,
  canConnectTo: (address: string) => boolean,
  signal: AbortSignal,
): Promise<FoundAddresses> {
  const notPublic = { reason: `${host} does not resolve to public IP addresses only.` };
  if (isIP(host) !== 0) return canConnectTo(host) ? { addresses: [host] } : notPublic;
  const found = await resolveAllowedAddresses(dns, host, () => true, signal);
  if (found.kind !== "found") return { reason: found.reason };
  return found.addresses.every(canConnectTo)
    ? { addresses: found.addresses.slice(0, addressesMax) }
    : notPublic;
}
