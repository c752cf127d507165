import ipaddr from "ipaddr.js";
import { parseUrl } from "./parse-url";

/**
 * `public`: on the public Internet. `allowed`: in a network that the operator allowed. `blocked`: neither.
 */
export type AddressVerdict = "public" | "allowed" | "blocked";

/** Classifies an IP address in any notation. Text that is not an address is `blocked`. */
export type JudgeAddress = (address: string) => AddressVerdict;

/**
 * Cloud metadata services with addresses in the public ranges. They return secrets to machines of that cloud.
 */
const CLOUD_METADATA: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** The only block from which global IPv6 unicast addresses are assigned (RFC 4291, IANA registry). */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3");

/**
 * Creates the address check of an installation. An address is public if it is not in a special-purpose
 * registry (RFC 6890) and not a mapped or translated form of another address. `allow` contains networks in
 * CIDR notation; throws for any other notation.
 */
export function createAddressJudge(allow: readonly string[]): JudgeAddress {
  const allowed = allow.map((network) => ipaddr.parseCIDR(network));
  return (text) => {
    const plain = withoutDots(text);
    if (!ipaddr.isValid(plain)) return "blocked";
    const address = ipaddr.process(plain);
    if (allowed.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits)))
      return "allowed";
    if (address.range() !== "unicast" || CLOUD_METADATA.has(address.toString())) return "blocked";
    return address.kind() === "ipv4" || address.match(GLOBAL_IPV6) ? "public" : "blocked";
  };
}

/**
 * Converts an IPv4 tail of an IPv6 address to hex. The parser reads `::8.8.8.8` as 8.8.8.8, the operating
 * system does not.
 */
function withoutDots(text: string): string {
  if (!text.includes(":") || !text.includes(".")) return text;
  const url = `http://[${text}]`;
  return parseUrl(url)?.hostname.slice(1, -1) ?? "";
}
