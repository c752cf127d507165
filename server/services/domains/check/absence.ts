import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { formatTlsa } from "#server/mail/dns/dane";
import type { DnsAnswer, DnsType, QueryDns } from "#server/mail/dns/dns";
import type { FaultName } from "./faults";
import { labelIn } from "./records";

/**
 * The result of checking one record. `answers` are shown unchanged. `corrected` is the record to publish if
 * it differs from the usual one.
 */
export type Finding = { fault: FaultName | null; answers: string[]; found: string; corrected?: string };

export const noFault = (answers: string[]): Finding => ({ fault: null, answers, found: "" });
export const withFault = (fault: FaultName, answers: string[], found = "", corrected?: string): Finding => ({
  fault,
  answers,
  found,
  ...(corrected !== undefined && { corrected }),
});

/**
 * Explains an answer without records: the lookup failed, the record is published under a doubled name,
 * another record hides it, or it is missing.
 */
export async function explainAbsence(
  query: QueryDns,
  domain: string,
  answer: Exclude<DnsAnswer, { kind: "answer" }>,
): Promise<Finding> {
  if (answer.kind === "servfail" || answer.kind === "timeout") return withFault(answer.kind, []);
  const { name: host, type } = answer;
  const [doubled, instead] = await Promise.all([
    findDoubled(query, domain, host, type),
    // A CNAME to nothing is answered with NXDOMAIN. DMARC is often a CNAME to a service.
    answer.kind === "nodata" || host.startsWith("_dmarc.") ? findInstead(query, host, type) : null,
  ]);
  return doubled ?? instead ?? withFault("missing", []);
}

/**
 * DNS panels append their zone to the entered name. The zone is the domain itself or the registered domain
 * above it.
 */
async function findDoubled(
  query: QueryDns,
  domain: string,
  host: string,
  type: DnsType,
): Promise<Finding | null> {
  const zones = new Set([domain, getRegisteredDomain(domain)]);
  const names = new Set([...zones].map((zone) => `${host}.${zone}`));
  // The name for the registered domain's panel, entered in a panel for the domain.
  names.add(`${labelIn(domain, host)}.${domain}`).delete(host);
  const answers = await Promise.all([...names].map((name) => query(name, type)));
  const found = answers.find((answer) => answer.kind === "answer");
  return found ? withFault("doubled_name", textsOf(found), found.name) : null;
}

/** A CNAME hides every other record at its name; a proxied CNAME is answered with the proxy's addresses. */
async function findInstead(query: QueryDns, host: string, type: DnsType): Promise<Finding | null> {
  const cname = type === "CNAME" ? null : await query(host, "CNAME");
  if (cname?.kind === "answer")
    return withFault("proxied_cname", textsOf(cname), `a CNAME to ${cname.records[0] ?? "another name"}`);
  if (type !== "CNAME") return null;
  const addresses = (await Promise.all([query(host, "A"), query(host, "AAAA")])).flatMap(textsOf);
  return addresses.length > 0
    ? withFault("proxied_cname", addresses, `a proxy at ${addresses.slice(0, 3).join(", ")}`)
    : null;
}

/** The records of an answer, each in one line in the usual notation; empty if the answer has no records. */
export function textsOf(answer: DnsAnswer): string[] {
  if (answer.kind !== "answer") return [];
  return answer.records.map((record) =>
    typeof record === "string"
      ? record
      : Array.isArray(record)
        ? record.join("")
        : "exchange" in record
          ? `${record.priority} ${record.exchange}`
          : formatTlsa(record),
  );
}
