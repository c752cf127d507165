import { BlockList, isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import type { DnsRecord, DnsType, QueryDns } from "../dns";
import { reverseNameOf } from "../reverse-name";
import { expandMacros, isSenderSpecific, type MacroSender } from "./macros";
import { isSpfRecord, parseSpf, type SpfMechanism, type SpfRedirect } from "./record";

/** Limits of one evaluation (RFC 7208 section 4.6.4): terms that need DNS, and lookups without a result. */
export const spfLookupsMax = 10;
const voidLookupsMax = 2;
/** Names of one `mx` or `ptr`, by the same section. */
const namesMax = 10;

/**
 * The result of an evaluation. `term` is the term of the evaluated record that decided, null if none did.
 * `why` explains an error in one sentence. `exceedsLookups`: the error is the limit of DNS lookups.
 */
export type SpfResult = {
  result: "none" | "neutral" | "pass" | "fail" | "softfail" | "temperror" | "permerror";
  term: string | null;
  why: string;
  exceedsLookups?: boolean;
};

type Run = {
  query: QueryDns;
  ip: string | null;
  sender: MacroSender;
  lookups: number;
  voids: number;
};
type Term = SpfMechanism | SpfRedirect;

class SpfError extends Error {
  constructor(
    readonly result: "temperror" | "permerror",
    message: string,
    readonly exceedsLookups = false,
  ) {
    super(message);
  }
}

/**
 * Evaluates SPF as a receiver does (check_host, RFC 7208 section 4) for email from `ip` whose MAIL FROM has
 * this domain. With `ip: null`: for a client that no address, MX or PTR of the record matches, which needs
 * every lookup and so finds every error that a receiver can. Never rejects. It needs at most 10 terms with
 * lookups, of at most 11 queries each; the time limit of each is that of `query`.
 */
export async function checkHost(
  query: QueryDns,
  ip: string | null,
  domain: string,
  { local = "postmaster", helo = domain }: { local?: string; helo?: string } = {},
): Promise<SpfResult> {
  const plain = ip === null ? null : ipaddr.process(ip).toString();
  const run = { query, ip: plain, sender: { local, domain, helo }, lookups: 0, voids: 0 };
  return settle(null, () => evaluate(run, domain));
}

async function evaluate(run: Run, domain: string): Promise<SpfResult> {
  if (!isFullName(domain)) return { result: "none", term: null, why: `${domain} is not a domain name.` };
  const texts = (await findRecords(run, domain, "TXT")).map((strings) => strings.join(""));
  const [text, another] = texts.filter(isSpfRecord);
  if (text === undefined) return { result: "none", term: null, why: `${domain} has no SPF record.` };
  if (another !== undefined) throw new SpfError("permerror", `${domain} has more than one SPF record.`);
  const { mechanisms, redirect, faults } = parseSpf(text);
  const [fault] = faults;
  if (fault) return { result: "permerror", term: fault.text, why: fault.why };
  for (const mechanism of mechanisms) {
    const found = await settle(mechanism.text, () => matches(run, domain, mechanism));
    if (typeof found !== "boolean") return found;
    if (found) return { result: mechanism.result, term: mechanism.text, why: "" };
  }
  if (redirect === null) return { result: "neutral", term: null, why: "" };
  const result = await settle(redirect.text, () => follow(run, domain, redirect));
  return result.result === "pass" ? { ...result, term: redirect.text } : result;
}

/** An error in a term, or in a record that it refers to, is an error of the term. */
async function settle<T>(term: string | null, run: () => Promise<T>): Promise<T | SpfResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SpfError)) throw error;
    return { result: error.result, term, why: error.message, exceedsLookups: error.exceedsLookups };
  }
}

/** Evaluates the record that `include` or `redirect` names, which must exist. */
async function follow(run: Run, domain: string, term: Term): Promise<SpfResult> {
  const target = await targetOf(run, domain, term);
  if (target === null) return { result: "neutral", term: null, why: "" };
  const { result, why, exceedsLookups } = await evaluate(run, target);
  if (result === "none") throw new SpfError("permerror", `\`${term.text}\`: ${why}`);
  if (result === "temperror" || result === "permerror")
    throw new SpfError(result, exceedsLookups ? why : `\`${term.text}\`: ${why}`, exceedsLookups);
  return { result, term: term.text, why };
}

async function matches(run: Run, domain: string, mechanism: SpfMechanism): Promise<boolean> {
  const { name, target, prefix } = mechanism;
  switch (name) {
    case "all":
      return true;
    case "ip4":
    case "ip6":
      return isInNetwork(run.ip, target ?? "", prefix);
    case "include":
      return (await follow(run, domain, mechanism)).result === "pass";
  }
  const host = await targetOf(run, domain, mechanism);
  if (host === null) return false;
  switch (name) {
    case "a":
      return (await findAddresses(run, host)).some((address) => isInNetwork(run.ip, address, prefix));
    case "mx": {
      const hosts = (await findRecords(run, host, "MX")).map(({ exchange }) => exchange);
      if (hosts.length > namesMax)
        throw new SpfError("permerror", `\`${mechanism.text}\` has more than ${namesMax} MX hosts.`);
      for (const each of hosts)
        if ((await findAddresses(run, each)).some((address) => isInNetwork(run.ip, address, prefix)))
          return true;
      return false;
    }
    case "exists":
      return (await findRecords(run, host, "A")).length > 0;
    case "ptr": {
      const names = run.ip === null ? [] : await findValidatedNames(run, run.ip);
      return names.some((each) => each === host || each.endsWith(`.${host}`));
    }
  }
}

/** The domain of a term, lower case; null if it depends on a client that is not known. Counts the lookup. */
async function targetOf(run: Run, domain: string, { target }: Term): Promise<string | null> {
  if (++run.lookups > spfLookupsMax)
    throw new SpfError("permerror", `The record needs more than ${spfLookupsMax} DNS lookups.`, true);
  if (target === null) return domain.toLowerCase();
  if (run.ip === null && isSenderSpecific(target)) return null;
  const hasName = run.ip !== null && /%\{p/i.test(target);
  const names = hasName ? await findValidatedNames(run, run.ip ?? "") : [];
  const p = names.find((each) => each === domain) ?? names.find((each) => each.endsWith(`.${domain}`));
  const values = { ip: run.ip ?? "0.0.0.0", domain, p: p ?? names[0] ?? "unknown", sender: run.sender };
  return expandMacros(target, values).toLowerCase();
}

/** The records of a name. A failed lookup ends the evaluation; the third without a result does, too. */
async function findRecords<T extends DnsType>(run: Run, name: string, type: T): Promise<DnsRecord<T>[]> {
  const answer = await run.query(name, type);
  if (answer.kind === "answer") return answer.records;
  if (answer.kind === "servfail" || answer.kind === "timeout")
    throw new SpfError("temperror", `The lookup of ${name} (${type}) failed.`);
  if (type !== "TXT" && ++run.voids > voidLookupsMax)
    throw new SpfError(
      "permerror",
      `More than ${voidLookupsMax} lookups have no result; the last is that of ${name} (${type}).`,
    );
  return [];
}

async function findAddresses(run: Run, name: string): Promise<string[]> {
  if (run.ip !== null) return findRecords(run, name, isIPv4(run.ip) ? "A" : "AAAA");
  // A client of either family must find the name: it is void if it has addresses of neither.
  const ipv6 = await run.query(name, "AAAA");
  return ipv6.kind === "answer" ? ipv6.records : findRecords(run, name, "A");
}

/** The names of an address that resolve to it again; a failed lookup is no match (RFC 7208 section 5.5). */
async function findValidatedNames(run: Run, ip: string): Promise<string[]> {
  const answer = await run.query(reverseNameOf(ip), "PTR");
  const names = answer.kind === "answer" ? answer.records.slice(0, namesMax) : [];
  const confirmed: string[] = [];
  for (const name of names) {
    const addresses = await run.query(name, isIPv4(ip) ? "A" : "AAAA");
    const isConfirmed =
      addresses.kind === "answer" &&
      addresses.records.some((each) => isInNetwork(ip, each, { ipv4: 32, ipv6: 128 }));
    if (isConfirmed) confirmed.push(name.replace(/\.$/, "").toLowerCase());
  }
  return confirmed;
}

/** Without an address: whether the network contains every address. */
function isInNetwork(ip: string | null, network: string, prefix: SpfMechanism["prefix"]): boolean {
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  if (ip === null) return prefix[family] === 0;
  if (isIPv4(ip) !== (family === "ipv4")) return false;
  const list = new BlockList();
  list.addSubnet(network, prefix[family], family);
  return list.check(ip, family);
}

/** A name of at least two labels of at most 63 characters (RFC 7208 section 4.3). */
const isFullName = (name: string): boolean => /^(?:[^.]{1,63}\.)+[^.]{1,63}\.?$/.test(name);
