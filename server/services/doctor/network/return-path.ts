import { createCachedDns } from "#server/mail/dns/cache";
import { formatSpfRecord } from "#server/mail/dns/spf/record";
import { explainAbsence } from "../../domains/check/absence";
import { FAULTS } from "../../domains/check/faults";
import { checkSpf, findSendingHost } from "../../domains/check/policies/spf";
import { type DoctorDeps, notChecked, ok, type Result, warning } from "../finding";

/**
 * For direct delivery: whether receivers get the SPF result `pass` for the domain of the installation's
 * return paths and every address of BACKSTAMP_HOSTNAME.
 */
export async function checkReturnPath({ dns, transportKind, names }: DoctorDeps): Promise<Result> {
  const { mailHost, returnPathDomain: domain } = names;
  if (transportKind !== "direct")
    return notChecked("Email is not sent directly to MX hosts, so SPF concerns the servers of the relay.");
  if (domain === null)
    return notChecked("BACKSTAMP_RETURN_PATH_DOMAIN is not set, so SPF concerns the sending domains only.");
  if (mailHost === null)
    return notChecked("BACKSTAMP_HOSTNAME is not set, so the addresses that send email are not known.");
  const query = createCachedDns(dns);
  const answer = await query(domain, "TXT");
  const { fault, found, corrected } =
    answer.kind === "answer"
      ? await checkSpf(query, answer, await findSendingHost(query, mailHost, true))
      : await explainAbsence(query, domain, answer);
  if (fault === null) return ok(`The SPF record of ${domain} allows every address of ${mailHost}.`, domain);
  const expected = corrected ?? formatSpfRecord(mailHost);
  return warning(
    `SPF does not pass for the return paths at ${domain} (${fault}).`,
    fault === "missing"
      ? `Publish a TXT record at ${domain}: ${expected}`
      : FAULTS[fault]({ host: domain, label: domain, expected, found }),
    domain,
  );
}
