import type { AskDns, DnsAnswer, DnsType } from "#server/mail/dns";
import { registeredDomainOf } from "#server/mail/registered-domain";
import type { FaultName } from "./faults";
import { labelIn } from "./records";

/** What one look at a record came to. `answers` are shown as they came. */
export type Finding = { fault: FaultName | null; answers: string[]; found: string };

export const inOrder = (answers: string[]): Finding => ({ fault: null, answers, found: "" });
export const faulty = (fault: FaultName, answers: string[], found = ""): Finding => ({
  fault,
  answers,
  found,
});

/**
 * Why an answer that is none is none: nobody could tell, the record stands at a doubled name, something else answers in
 * its place, or it is simply not there.
 */
export async function explainAbsence(
  ask: AskDns,
  domain: string,
  answer: Exclude<DnsAnswer, { kind: "answer" }>,
): Promise<Finding> {
  if (answer.kind === "servfail" || answer.kind === "timeout") return faulty(answer.kind, []);
  const { name: host, type } = answer;
  const [doubled, instead] = await Promise.all([
    findDoubled(ask, domain, host, type),
    answer.kind === "nodata" ? findInstead(ask, host, type) : null,
  ]);
  return doubled ?? instead ?? faulty("missing", []);
}

/** A panel adds its zone to what it is given, and its zone is the domain itself or the registered one above it. */
async function findDoubled(
  ask: AskDns,
  domain: string,
  host: string,
  type: DnsType,
): Promise<Finding | null> {
  const zones = new Set([domain, registeredDomainOf(domain)]);
  const names = new Set([...zones].map((zone) => `${host}.${zone}`));
  // The name for the registered domain's panel, entered in a panel for the domain.
  names.add(`${labelIn(domain, host)}.${domain}`).delete(host);
  const answers = await Promise.all([...names].map((name) => ask(name, type)));
  const found = answers.find((answer) => answer.kind === "answer");
  return found ? faulty("doubled_name", textsOf(found), found.name) : null;
}

/** A CNAME hides every other record at its name; and one that is proxied shows the proxy's addresses in its place. */
async function findInstead(ask: AskDns, host: string, type: DnsType): Promise<Finding | null> {
  const cname = type === "CNAME" ? null : await ask(host, "CNAME");
  if (cname?.kind === "answer")
    return faulty("proxied_cname", textsOf(cname), `a CNAME to ${cname.records[0] ?? "another name"}`);
  if (type !== "CNAME") return null;
  const addresses = (await Promise.all([ask(host, "A"), ask(host, "AAAA")])).flatMap(textsOf);
  return addresses.length > 0
    ? faulty("proxied_cname", addresses, `a proxy at ${addresses.slice(0, 3).join(", ")}`)
    : null;
}

/** The records of an answer, each in one line as people write it; none where it is none. */
export function textsOf(answer: DnsAnswer): string[] {
  if (answer.kind !== "answer") return [];
  return answer.records.map((record) =>
    typeof record === "string"
      ? record
      : Array.isArray(record)
        ? record.join("")
        : `${record.priority} ${record.exchange}`,
  );
}
