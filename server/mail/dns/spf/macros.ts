import ipaddr from "ipaddr.js";

const MACRO = /%(?:([%_-])|\{([slodiphv])([0-9]*)(r?)([.\-+,/_=]*)\})/gi;
const LITERALS = { "%": "%", _: " ", "-": "%20" } as const;
const nameCharsMax = 253;

/** Values of the macros of one evaluation (RFC 7208 section 7.2), except `d`, `i`, `v` and `p`. */
export type MacroSender = { local: string; domain: string; helo: string };

/**
 * Whether a text is a domain-spec (RFC 7208 section 7.1): visible ASCII with macros, which ends with a macro
 * or a top-level label.
 */
export function isDomainSpec(text: string): boolean {
  const hasZero = [...text.matchAll(MACRO)].some(([, , , digits]) => digits !== "" && Number(digits) === 0);
  const literal = text.replace(MACRO, "\0");
  if (hasZero || !/^[!-~]+$/.test(text) || literal.includes("%")) return false;
  if (literal.endsWith("\0")) return true;
  const labels = literal.replace(/\.$/, "").split(".");
  const top = labels.at(-1) ?? "";
  return labels.length > 1 && /^[a-z0-9-]+$/i.test(top) && !/^-|-$|^[0-9]+$/.test(top);
}

/** Whether the value of a domain-spec depends on more than the domain: on the email or the client. */
export const isSenderSpecific = (spec: string): boolean => /%\{[^do]/i.test(spec);

/**
 * Replaces the macros of a domain-spec. `p` is the validated name of the client. A result that is too long
 * for DNS loses labels from its left (RFC 7208 section 7.3).
 */
export function expandMacros(
  spec: string,
  { ip, domain, p, sender }: { ip: string; domain: string; p: string; sender: MacroSender },
): string {
  const address = ipaddr.process(ip);
  const isV6 = address.kind() === "ipv6";
  const nibbles = address.toByteArray().flatMap((byte) => [byte >> 4, byte & 15]);
  const values: Record<string, string> = {
    s: `${sender.local}@${sender.domain}`,
    l: sender.local,
    o: sender.domain,
    d: domain,
    i: isV6 ? nibbles.map((nibble) => nibble.toString(16)).join(".") : address.toString(),
    p,
    v: isV6 ? "ip6" : "in-addr",
    h: sender.helo,
  };
  const name = spec.replace(MACRO, (_, literal, letter = "", digits, reverse, delimiters) => {
    if (literal) return LITERALS[literal as keyof typeof LITERALS];
    const isDelimiter = (char: string) => (delimiters || ".").includes(char);
    const parts = [...(values[letter.toLowerCase()] ?? "")]
      .map((char) => (isDelimiter(char) ? "\0" : char))
      .join("")
      .split("\0");
    if (reverse) parts.reverse();
    const value = parts.slice(digits ? -Number(digits) : 0).join(".");
    return letter === letter.toLowerCase() ? value : encodeUrl(value);
  });
  const labels = name.replace(/\.$/, "").split(".");
  let length = labels.join(".").length;
  while (length > nameCharsMax && labels.length > 1) length -= (labels.shift()?.length ?? 0) + 1;
  return labels.join(".");
}

const encodeUrl = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
