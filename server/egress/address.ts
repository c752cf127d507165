import ipaddr from "ipaddr.js";

/** `public`: anybody may be reached there. `allowed`: the operator opened it. `blocked`: neither. */
export type AddressVerdict = "public" | "allowed" | "blocked";

/** Judges an IP address in any notation. What is no address is blocked. */
export type JudgeAddress = (address: string) => AddressVerdict;

/** Addresses inside the global ranges that answer only machines of one cloud, with secrets. */
const CLOUD_METADATA: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** The only block from which global IPv6 unicast is handed out (RFC 4291, IANA registry). */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3");

/**
 * Makes the judge for an installation. Public is what the registries of special-purpose addresses (RFC 6890) leave over,
 * mapped and translated forms of other addresses excluded. `allow` holds networks in CIDR form; throws for another form.
 */
export function createAddressJudge(allow: readonly string[]): JudgeAddress {
  const opened = allow.map((network) => ipaddr.parseCIDR(network));
  return (text) => {
    const plain = withoutDots(text);
    if (!ipaddr.isValid(plain)) return "blocked";
    const address = ipaddr.process(plain);
    if (opened.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits)))
      return "allowed";
    if (address.range() !== "unicast" || CLOUD_METADATA.has(address.toString())) return "blocked";
    return address.kind() === "ipv4" || address.match(GLOBAL_IPV6) ? "public" : "blocked";
  };
}

/** IPv6 with an IPv4 tail in hex alone: the parser takes `::8.8.8.8` for 8.8.8.8, and the system does not. */
function withoutDots(text: string): string {
  if (!text.includes(":") || !text.includes(".")) return text;
  const url = `http://[${text}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : "";
}
