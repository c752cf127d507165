import type { DnsAnswer, DnsRecord, DnsType, QueryDns } from "#server/mail/dns/dns";
import { formatSpfRecord, isSpfRecord, needsLookup, parseSpf } from "#server/mail/dns/spf/record";
import { checkHost, spfLookupsMax } from "#server/mail/dns/spf/spf";
import { type Finding, noFault, textsOf, withFault } from "../absence";
import type { FaultName } from "../faults";

/** The host that email is sent from, and its addresses. `isUnknown`: a lookup of the addresses failed. */
export type SendingHost = { name: string; addresses: string[]; isUnknown: boolean };

const addressesMax = 8;
/** While no email is sent, the host may have no address yet. This one then stands for it. */
const laterAddress = "0.0.0.0";

/** Finds the addresses of the sending host. `sends`: whether email is sent now, which requires an address. */
export async function findSendingHost(query: QueryDns, name: string, sends: boolean): Promise<SendingHost> {
  const answers = await Promise.all([query(name, "A"), query(name, "AAAA")]);
  const found = answers.flatMap(textsOf).slice(0, addressesMax);
  const isUnknown = answers.some(({ kind }) => kind === "servfail" || kind === "timeout");
  const isLater = found.length === 0 && !sends;
  return { name, addresses: isLater ? [laterAddress] : found, isUnknown: isUnknown && !isLater };
}

type Answer = Extract<DnsAnswer, { kind: "answer" }>;

/** Text that was meant as an SPF record, up to its first term. Quotation marks may be typographic. */
const MEANT = /^["'\u0080-\uffff\s]*(?:v\s*=\s*spf[0-9.]*|spf1\b)[:;,\s]*/i;
export const isMeantAsSpf = (text: string): boolean => MEANT.test(text);

/**
 * Evaluates the SPF record among the TXT records of a MAIL FROM domain as receivers do, for email from each
 * address of `sender`, and for errors that do not depend on an address. Without `sender` only the latter. No
 * fault: every receiver gets `pass`, or there is neither a record nor a sender.
 */
export async function checkSpf(dns: QueryDns, answer: Answer, sender: SendingHost | null): Promise<Finding> {
  const texts = textsOf(answer);
  const records = texts.filter(isSpfRecord);
  const [record] = records;
  const query = withLaterAddress(dns, sender);
  const fault = async (name: FaultName, found: string, meant: string[]) =>
    withFault(name, texts, found, await correctSpf(query, answer.name, meant, sender));
  if (records.length > 1) return fault("several_spf", "", records);
  // The strings of one record are joined without a space, so a missing space merges two terms.
  const spaced = answer.records
    .map((strings) => (Array.isArray(strings) ? strings.join(" ") : ""))
    .find(isValid);
  if (spaced !== undefined && (record === undefined || !isValid(record)))
    return fault("split_value", "", [spaced]);
  if (record === undefined) {
    const meant = texts.find(isMeantAsSpf);
    if (meant === undefined) return sender ? withFault("missing", texts) : noFault(texts);
    const cleaned = [meant.replace(MEANT, "v=spf1 ").replace(/["'\u0080-\uffff]{1,3}$/, "")];
    return /^\s*["'\u0080-\uffff]/.test(meant)
      ? fault("quoted_value", "", cleaned)
      : fault("spf_invalid", "It does not begin with `v=spf1` and a space.", cleaned);
  }
  const found = await evaluateRecord(query, answer.name, record, sender);
  return found === null ? noFault(texts) : fault(found.fault, found.why, records);
}

const isValid = (text: string): boolean => isSpfRecord(text) && parseSpf(text).faults.length === 0;

type RecordFault = { fault: FaultName; why: string; term: string | null };

/** The first fault of a record, if it were published at `host`; null if there is none. */
async function evaluateRecord(
  dns: QueryDns,
  host: string,
  record: string,
  sender: SendingHost | null,
): Promise<RecordFault | null> {
  const query = withAnswer(dns, host, "TXT", [[record]]);
  const { mechanisms, redirect, faults, ignored } = parseSpf(record);
  const whys = (terms: typeof faults) =>
    terms
      .slice(0, faultsMax)
      .map(({ why }) => why)
      .join(" ");
  if (faults.length > 0) return { fault: "spf_invalid", why: whys(faults), term: null };
  const needing = [...mechanisms, ...(redirect ? [redirect] : [])].filter(needsLookup);
  const beyond = needing[spfLookupsMax];
  if (beyond) return { fault: "too_many_lookups", why: "", term: beyond.text };
  const { result, term, why, exceedsLookups } = await checkHost(query, null, host);
  if (result === "permerror")
    return { fault: exceedsLookups ? "too_many_lookups" : "spf_invalid", why, term };
  if (result === "temperror") return { fault: "servfail", why, term: null };
  if (result === "pass")
    return { fault: "spf_open", why: `Every server passes, because of \`${term}\`.`, term };
  if (ignored.length > 0) return { fault: "spf_ignored", why: whys(ignored), term: null };
  if (sender === null) return null;
  if (sender.isUnknown)
    return { fault: "servfail", why: `The lookup of the addresses of ${sender.name} failed.`, term: null };
  if (sender.addresses.length === 0) return { fault: "spf_no_address", why: sender.name, term: null };
  for (const address of sender.addresses) {
    const found = await checkHost(query, address, host, { helo: sender.name });
    if (found.result === "pass") continue;
    if (found.result === "temperror") return { fault: "servfail", why: found.why, term: null };
    const from = address === laterAddress ? sender.name : `${sender.name} (${address})`;
    const cause = found.term === null ? "" : `, because of \`${found.term}\``;
    const why = `For email from ${from} receivers get the SPF result \`${found.result}\`${cause}. ${found.why}`;
    return { fault: "wrong_value", why: why.trim(), term: null };
  }
  return null;
}

const faultsMax = 5;
const correctionsMax = 12;

/**
 * One record without the faults of these: it has their valid terms, and passes for `sender`. Undefined if
 * the right one cannot be determined.
 */
async function correctSpf(
  query: QueryDns,
  host: string,
  records: readonly string[],
  sender: SendingHost | null,
): Promise<string | undefined> {
  const words = records.flatMap((record) => {
    const { faults, ignored } = parseSpf(record);
    const fixes = new Map([...faults, ...ignored].map(({ text, fixed }) => [text, fixed ?? ""]));
    return record
      .split(" ")
      .slice(1)
      .map((word) => fixes.get(word) ?? word);
  });
  const isAll = (word: string) => /^[+\-~?]?all$/i.test(word);
  const all = words.findLast(isAll);
  let ending = all ?? words.find(isRedirect) ?? "~all";
  let terms = words
    .map((word) => (all === undefined ? word : word.replace(/^redirect=/i, "include:")))
    .filter((word) => word !== "" && !isAll(word) && !isRedirect(word));
  const own = sender ? `a:${sender.name}` : null;
  for (let count = 0; count < correctionsMax; count++) {
    const record = ["v=spf1", ...new Set(terms), ending].join(" ");
    const found = await evaluateRecord(query, host, record, sender);
    if (found === null) return record;
    if (found?.fault === "wrong_value" && own !== null && terms[0] !== own) terms = [own, ...terms];
    else if (found?.term === ending) ending = "~all";
    else if (found?.term) terms = terms.filter((term) => term !== found.term);
    else break;
  }
  return sender ? formatSpfRecord(sender.name) : undefined;
}

const isRedirect = (word: string): boolean => /^redirect=/i.test(word);

/** The queries as if these were the records of a name. */
const withAnswer =
  <K extends DnsType>(query: QueryDns, host: string, of: K, records: DnsRecord<K>[]): QueryDns =>
  async <T extends DnsType>(name: string, type: T, signal?: AbortSignal) =>
    name === host && (type as DnsType) === of
      ? ({ name, type, resolver: "none", kind: "answer", records } as unknown as DnsAnswer<T>)
      : query(name, type, signal);

const withLaterAddress = (query: QueryDns, sender: SendingHost | null): QueryDns =>
  sender?.addresses.includes(laterAddress) ? withAnswer(query, sender.name, "A", [laterAddress]) : query;
