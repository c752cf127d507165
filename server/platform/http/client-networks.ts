import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type AppError, rejectKey } from "../errors";

type Network = [base: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

const mappedBits = 96;

/**
 * A network in CIDR notation with its first address, such as `192.0.2.0/24`; null for any other text. An
 * address without a prefix length is a network of one address. An IPv4-mapped IPv6 network (RFC 4291,
 * 2.5.5.2) becomes the IPv4 network.
 */
export function parseNetwork(text: string): string | null {
  const [, address = "", digits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  const family = isIP(address);
  if (family === 0) return null;
  const bitsMax = family === 4 ? 32 : 128;
  const bits = digits === undefined ? bitsMax : Number(digits);
  if (bits > bitsMax) return null;
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6))
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`;
  if (!parsed.isIPv4MappedAddress())
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`;
  return bits < mappedBits ? null : parseNetwork(`${parsed.toIPv4Address()}/${bits - mappedBits}`);
}

const contains = ([base, bits]: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  base.kind() === address.kind() && address.match(base, bits);

/**
 * Whether a client may use a key with these networks. Without networks every client may; an unknown address
 * is in none.
 */
export function isInNetworks(address: string | null, networks: readonly string[]): boolean {
  if (networks.length === 0) return true;
  if (address === null || isIP(address) === 0) return false;
  const client = ipaddr.process(address.replace(/%.*$/s, ""));
  return networks.some((network) => contains(ipaddr.parseCIDR(network), client));
}

/** The 403 for a key that may not be used from this address. */
export const rejectAddress = (address: string | null): AppError =>
  rejectKey(
    "client_address_not_allowed",
    address === null
      ? "This key is limited to client networks, and the client address is not known. Behind a proxy, the operator sets BACKSTAMP_TRUSTED_HOPS."
      : `This key is limited to client networks, which do not include the client address ${address}. Change its networks in the console under API keys, or call from one of them.`,
  );

/**
 * The first of the inner networks that the outer ones do not cover; null if they cover all. An empty list is
 * every address.
 */
export function findUncovered(outer: readonly string[], inner: readonly string[]): string | null {
  if (outer.length === 0) return null;
  if (inner.length === 0) return "every address";
  const networks = outer.map((network) => ipaddr.parseCIDR(network));
  const isCovered = (network: string) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return networks.some((one) => one[1] <= bits && contains(one, base));
  };
  return inner.find((network) => !isCovered(network)) ?? null;
}
