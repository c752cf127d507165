import { toASCII, toUnicode } from "tr46";

/** UTS #46 with the options of the URL standard for hosts: bidi and joiner checks on, hyphens anywhere. */
const RULES = { checkBidi: true, checkJoiners: true } as const;

/** Names that UTS #46 maps to themselves. Skips the mapping for nearly all domains in use. */
const PLAIN = /^[a-z0-9.-]*$/;

/**
 * Normalizes a domain for comparison and DNS queries: mapped, lower case, A-labels. Null if it is invalid by
 * UTS #46. Uses a library instead of Node's mapping, which differs between releases for names such as
 * `xn--a`.
 */
export function toAsciiDomain(domain: string): string | null {
  const lower = domain.toLowerCase();
  if (PLAIN.test(lower) && !lower.includes("xn--")) return lower;
  return toASCII(domain, RULES) || null;
}

/** Decodes the A-labels of a domain. Null if one of them is invalid. */
export function toUnicodeDomain(domain: string): string | null {
  const { domain: unicode, error } = toUnicode(domain, RULES);
  return error ? null : unicode;
}
