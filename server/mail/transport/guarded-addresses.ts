import { isIP } from "node:net";
import type { AskDns } from "../dns";
import { reachableAddresses } from "../exchanges";

/** Where a server may be connected to, or in a sentence why nowhere. */
export type FoundAddresses = { addresses: string[] } | { reason: string };

/** Addresses of one name that are tried at most. */
const addressesMax = 4;

/**
 * The addresses of a server that somebody else chose. One that may not be reached among them condemns the name: it is how a
 * name is made to point inside now and then. Whoever connects takes these addresses and looks up no others.
 */
export async function guardedAddresses(
  dns: AskDns,
  host: string,
  mayReach: (address: string) => boolean,
  signal: AbortSignal,
): Promise<FoundAddresses> {
  const inside = { reason: `${host} is not, or not only, at an address of the public Internet.` };
  if (isIP(host) !== 0) return mayReach(host) ? { addresses: [host] } : inside;
  const found = await reachableAddresses(dns, host, () => true, signal);
  if (found.kind !== "found") return { reason: found.reason };
  return found.addresses.every(mayReach) ? { addresses: found.addresses.slice(0, addressesMax) } : inside;
}
