import ipaddr from "ipaddr.js";

/**
 * The name at which the PTR record of an address is published (RFC 1035 section 3.5, RFC 3596 section 2.5).
 */
export function reverseNameOf(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return `${parsed.toByteArray().reverse().join(".")}.in-addr.arpa`;
  const nibbles = parsed.toByteArray().flatMap((byte) => [byte >> 4, byte & 15]);
  return `${nibbles
    .reverse()
    .map((nibble) => nibble.toString(16))
    .join(".")}.ip6.arpa`;
}
