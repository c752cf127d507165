import { isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * The rate-limit bucket of a client address, for requests without a valid key. Never throws. An invalid
 * forwarded address falls back to the socket address; without that, all such clients share one bucket.
 *
 * `trustedHops` is the number of reverse proxies. Each proxy appends the client address it saw to
 * `X-Forwarded-For`. The outermost proxy wrote the entry at this position from the right; the client can
 * forge all entries left of it. No other header is trusted. With fewer entries than hops, the request
 * bypassed the proxies, and only the socket address is valid.
 *
 * An IPv4 address has its own bucket, also in its IPv6-mapped form (RFC 4291, 2.5.5.2). All IPv6 addresses of
 * a /64 share a bucket, because a subscriber has at least a /64.
 */
export function addressBucket(
  headers: Headers,
  socketAddress: string | undefined,
  trustedHops: number,
): string {
  const address = clientAddress(headers, socketAddress, trustedHops);
  if (isIP(address ?? "") !== 6) return `address:${address ?? "unknown"}`;
  const network = ipaddr.IPv6.parse(address ?? "")
    .parts.slice(0, 4)
    .map((group) => group.toString(16));
  return `address:${network.join(":")}::/64`;
}

/** The client's address by the same rules. An IPv6-mapped IPv4 address is returned as IPv4. */
export function clientAddress(
  headers: Headers,
  socketAddress: string | undefined,
  trustedHops: number,
): string | undefined {
  const forwarded = trustedHops < 1 ? [] : (headers.get("x-forwarded-for") ?? "").split(",");
  return readAddress(forwarded.at(-trustedHops) ?? "") ?? readAddress(socketAddress ?? "");
}

/** Parses the address formats of proxies: plain, in brackets, with a port, with a zone. */
function readAddress(text: string): string | undefined {
  // Has one spelling, and is the usual one.
  if (isIPv4(text)) return text;
  const [, bracketed, ipv4, bare] =
    /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5}|(.*))$/.exec(text.trim()) ?? [];
  const address = (bracketed ?? ipv4 ?? bare ?? "").replace(/%.*$/s, "");
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}
