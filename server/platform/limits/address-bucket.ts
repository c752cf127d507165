import { isIP } from "node:net";

/**
 * The rate-limit bucket of a client address, for requests without a valid key. Never throws. An invalid forwarded address
 * falls back to the socket address; without that, all such clients share one bucket.
 *
 * `trustedHops` is the number of reverse proxies. Each proxy appends the client address it saw to `X-Forwarded-For`. The
 * outermost proxy wrote the entry at this position from the right; the client can forge all entries left of it. No other
 * header is trusted. With fewer entries than hops, the request bypassed the proxies, and only the socket address is valid.
 *
 * An IPv4 address has its own bucket, also in its IPv6-mapped form (RFC 4291, 2.5.5.2). All IPv6 addresses of a /64 share
 * a bucket, because a subscriber has at least a /64.
 */
export function addressBucket(
  headers: Headers,
  socketAddress: string | undefined,
  trustedHops: number,
): string {
  const address = clientAddress(headers, socketAddress, trustedHops);
  return `address:${address === undefined ? "unknown" : networkOf(address)}`;
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
  const [, bracketed, ipv4, bare] =
    /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5}|(.*))$/.exec(text.trim()) ?? [];
  const address = (bracketed ?? ipv4 ?? bare ?? "").replace(/%.*$/s, "");
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return mappedIpv4(toGroups(address)) ?? address;
    default:
      return undefined;
  }
}

/** The eight groups of a valid IPv6 address. */
function toGroups(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const left = readGroups(head);
  const right = readGroups(tail ?? "");
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...new Array<number>(gap).fill(0), ...right];
}

function readGroups(part: string): number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function mappedIpv4(groups: number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join(".") : undefined;
}

function networkOf(address: string): string {
  if (isIP(address) === 4) return address;
  const network = toGroups(address)
    .slice(0, 4)
    .map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}
