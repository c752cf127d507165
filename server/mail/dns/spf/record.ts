import { isIPv4, isIPv6 } from "node:net";
import { isDomainSpec } from "./macros";

/** A mechanism of a record. `target` is its domain-spec, or the address of `ip4` and `ip6`. */
export type SpfMechanism = {
  /** As it is published, with its qualifier. */
  text: string;
  result: "pass" | "fail" | "softfail" | "neutral";
  name: "all" | "include" | "a" | "mx" | "ptr" | "exists" | "ip4" | "ip6";
  target: string | null;
  /** Prefix lengths in bits. */
  prefix: { ipv4: number; ipv6: number };
};

/** The modifier `redirect`, as it is published and its domain-spec. */
export type SpfRedirect = { text: string; name: "redirect"; target: string };

/** A faulty term, and the term that was probably meant. */
type SpfFault = { text: string; why: string; fixed: string | null };

export type SpfRecord = {
  mechanisms: SpfMechanism[];
  redirect: SpfRedirect | null;
  /** Terms that make the record invalid. */
  faults: SpfFault[];
  /** Valid terms without any effect: those after `all`, and modifiers that look like mechanisms. */
  ignored: SpfFault[];
};

/** Longer records are invalid: receivers have limits too, and real records are far shorter. */
const recordCharsMax = 8_000;

const RESULT_OF_QUALIFIER = { "+": "pass", "-": "fail", "~": "softfail", "?": "neutral" } as const;
/** What may follow the name of each mechanism (RFC 7208 section 5). */
const ARGUMENTS: Record<SpfMechanism["name"], "none" | "domain" | "optional domain" | "host" | "network"> = {
  all: "none",
  include: "domain",
  exists: "domain",
  ptr: "optional domain",
  a: "host",
  mx: "host",
  ip4: "network",
  ip6: "network",
};
const isMechanism = (name: string): name is SpfMechanism["name"] => Object.hasOwn(ARGUMENTS, name);
const MEANT: Record<string, string> = { ipv4: "ip4", ip: "ip4", ipv6: "ip6", includes: "include" };

/** The record that allows the addresses of a host to send. */
export const formatSpfRecord = (host: string): string => `v=spf1 a:${host} ~all`;

/** Whether a term counts towards the limit of DNS lookups (RFC 7208 section 4.6.4). */
export const needsLookup = ({ name }: SpfMechanism | SpfRedirect): boolean =>
  name !== "all" && name !== "ip4" && name !== "ip6";

/** Whether a text is an SPF record (RFC 7208 section 4.5). */
export const isSpfRecord = (text: string): boolean => /^v=spf1(?: |$)/i.test(text);

/**
 * Parses an SPF record (RFC 7208 section 12) and finds every faulty term. `text` satisfies `isSpfRecord`.
 */
export function parseSpf(text: string): SpfRecord {
  const record: SpfRecord = { mechanisms: [], redirect: null, faults: [], ignored: [] };
  if (text.length > recordCharsMax) {
    const why = `The record is longer than ${recordCharsMax} characters.`;
    return { ...record, faults: [{ text, why, fixed: null }] };
  }
  const modifiers = new Set<string>();
  const hasAll = () => record.mechanisms.at(-1)?.name === "all";
  for (const word of text.split(" ").slice(1)) {
    if (word === "") continue;
    const [, modifier] = /^([a-z][\w.-]*)=/i.exec(word) ?? [];
    if (modifier === undefined) {
      const parsed = parseMechanism(word);
      if (typeof parsed === "string") record.faults.push({ text: word, why: parsed, fixed: fixTerm(word) });
      else if (hasAll())
        record.ignored.push({ text: word, why: `\`${word}\` is after \`all\`.`, fixed: word });
      else record.mechanisms.push(parsed);
      continue;
    }
    const name = modifier.toLowerCase();
    const value = word.slice(modifier.length + 1);
    const isKnown = name === "redirect" || name === "exp";
    if (isKnown ? !isDomainSpec(value) : !isDomainSpec(`${value}.a`))
      record.faults.push({ text: word, why: `\`${word}\` does not name a valid domain.`, fixed: null });
    else if (isKnown && modifiers.has(name))
      record.faults.push({ text: word, why: `There is more than one \`${name}\`.`, fixed: null });
    else if (name === "redirect") record.redirect = { text: word, name, target: value };
    else if (isMechanism(name) || name in MEANT) {
      const fixed = fixTerm(`${name}:${value}`);
      record.ignored.push({ text: word, why: `\`${word}\` has an equals sign instead of a colon.`, fixed });
    }
    modifiers.add(name);
  }
  if (hasAll() && record.redirect) {
    const { text, target } = record.redirect;
    record.ignored.push({
      text,
      why: `\`${text}\` is in a record with \`all\`.`,
      fixed: `include:${target}`,
    });
    record.redirect = null;
  }
  return record;
}

/** The mechanism, or what is wrong with it. */
function parseMechanism(text: string): SpfMechanism | string {
  const [, sign = "", written = "", rest = ""] = /^([+\-~?]?)([a-z][\w.-]*)(.*)$/is.exec(text) ?? [];
  const name = written.toLowerCase();
  if (!isMechanism(name))
    return name in MEANT
      ? `\`${text}\` is not a mechanism. \`${MEANT[name]}\` is.`
      : `\`${text}\` is not a mechanism or a modifier.`;
  const prefix = { ipv4: 32, ipv6: 128 };
  const result = RESULT_OF_QUALIFIER[(sign || "+") as keyof typeof RESULT_OF_QUALIFIER];
  const mechanism = { text, result, name, target: null, prefix };
  const kind = ARGUMENTS[name];
  if (kind === "none") return rest === "" ? mechanism : `\`${text}\` has characters after \`all\`.`;
  if (kind === "network") return parseNetwork({ ...mechanism, name: name as "ip4" | "ip6" }, rest.slice(1));
  const [, ipv4, ipv6] = (kind === "host" && /(?:\/([0-9]+))?(?:\/\/([0-9]+))?$/.exec(rest)) || [];
  const cidr = (ipv4 ? `/${ipv4}` : "") + (ipv6 ? `//${ipv6}` : "");
  const spec = rest.slice(0, rest.length - cidr.length);
  if (ipv4 !== undefined) prefix.ipv4 = prefixOf(ipv4, 32);
  if (ipv6 !== undefined) prefix.ipv6 = prefixOf(ipv6, 128);
  if (Number.isNaN(prefix.ipv4 + prefix.ipv6)) return `\`${text}\` has an invalid prefix length.`;
  if (spec === "" && kind !== "domain") return mechanism;
  return spec.startsWith(":") && isDomainSpec(spec.slice(1))
    ? { ...mechanism, target: spec.slice(1) }
    : `\`${text}\` does not name a valid domain.`;
}

function parseNetwork(
  mechanism: SpfMechanism & { name: "ip4" | "ip6" },
  network: string,
): SpfMechanism | string {
  const { text, name, prefix } = mechanism;
  const [address = "", length, more] = network.split("/");
  const isAddress = name === "ip4" ? isIPv4(address) : isIPv6(address) && !address.includes("%");
  if (!isAddress || !/^.?ip[46]:/i.test(text))
    return `\`${text}\` has no valid ${name === "ip4" ? "IPv4" : "IPv6"} address.`;
  const family = name === "ip4" ? "ipv4" : "ipv6";
  if (length !== undefined) prefix[family] = prefixOf(length, prefix[family]);
  if (Number.isNaN(prefix[family]) || more !== undefined) return `\`${text}\` has an invalid prefix length.`;
  return { ...mechanism, target: address };
}

const prefixOf = (digits: string, max: number): number =>
  /^(?:0|[1-9][0-9]{0,2})$/.test(digits) && Number(digits) <= max ? Number(digits) : Number.NaN;

/** The term that was probably meant: with the right name, or without characters at its end. */
function fixTerm(text: string): string | null {
  const [, sign = "", name = "", rest = ""] = /^([+\-~?]?)([a-z0-9]*)(.*)$/is.exec(text) ?? [];
  const renamed = sign + (MEANT[name.toLowerCase()] ?? name) + rest;
  const candidates = [renamed, renamed.replace(/[;,."'\\]$/, "")];
  return candidates.find((term) => typeof parseMechanism(term) !== "string") ?? null;
}
