import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { isDmarcRecord, reportDomainsOf } from "#server/mail/dns/dmarc";
import type { QueryDns } from "#server/mail/dns/dns";
import { textsOf } from "../absence";

const domainsMax = 10;

/**
 * The first domain to which a DMARC record sends reports without its consent: `found` is the name of the
 * record that it must publish (RFC 7489 section 7.1). Null if there is none. `policyName` is the name of the
 * DMARC record.
 */
export async function findUnauthorizedReport(query: QueryDns, policyName: string, record: string) {
  const domain = policyName.replace(/^_dmarc\./, "");
  const registered = getRegisteredDomain(domain);
  const others = reportDomainsOf(record).filter((other) => getRegisteredDomain(other) !== registered);
  for (const other of [...new Set(others)].slice(0, domainsMax)) {
    const answer = await query(`${domain}._report._dmarc.${other}`, "TXT");
    if (answer.kind === "servfail" || answer.kind === "timeout")
      return { fault: "servfail", found: `The lookup of ${answer.name} failed.` } as const;
    if (!textsOf(answer).some(isDmarcRecord))
      return { fault: "dmarc_report_unauthorized", found: answer.name } as const;
  }
  return null;
}
