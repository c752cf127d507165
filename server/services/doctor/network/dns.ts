import { performance } from "node:perf_hooks";
import { and, eq, isNotNull, ne, or } from "drizzle-orm";
import { BUILT_IN_DOMAIN, domains, type RecordCheck } from "#db/schema/domains";
import { checkDomainRecords } from "../../domains/check/doctor";
import { PROOF } from "../../domains/check/evaluate";
import { type Domain, domainColumns } from "../../domains/read";
import { isNoAnswer } from "../../surroundings";
import { checkEach } from "../each";
import { type DoctorDeps, failure, notChecked, ok, type Result, warning } from "../finding";

const domainsMax = 100;
/** The longest time of one domain. Lookups that are not complete by then count as failed. */
const domainMsMax = 5_000;

/** This domain exists, has no address, and is signed: a validating name server proves both. */
const SIGNED = "org";

/** Whether each configured name server responds, and whether its DNSSEC validation is used. */
export async function checkResolvers({ resolvers, publicUrl }: DoctorDeps): Promise<Result | Result[]> {
  const host = publicUrl === null ? "example.com" : new URL(publicUrl).hostname;
  const advice = "Correct BACKSTAMP_DNS_SERVERS, or the name servers of this machine.";
  const answers = await Promise.all(
    resolvers().map(async (query) => {
      const [answer, { isSecure }] = await Promise.all([query(host, "A"), query(SIGNED, "A")]);
      return { ...answer, isValidating: isSecure === true };
    }),
  );
  if (answers.length === 0) return failure("No name server is configured.", advice);
  const isEveryDown = answers.every(isNoAnswer);
  return answers.map((answer) => {
    const { resolver, kind, isValidating } = answer;
    if (!isNoAnswer(answer)) {
      const validation = isValidating ? "responds and validates DNSSEC: DANE is used" : "responds";
      return ok(`The name server ${validation}.`, resolver);
    }
    const message =
      kind === "timeout" ? "The name server did not respond." : "The name server returned an error.";
    return isEveryDown ? failure(message, advice, resolver) : warning(message, advice, resolver);
  });
}

/** Whether the records of the verified domains are still published: ownership and DKIM, SPF, MX and DMARC. */
export async function checkDomains(deps: DoctorDeps): Promise<Result | Result[]> {
  const startedMs = performance.now();
  const verified = await deps.db
    .select(domainColumns)
    .from(domains)
    .where(
      and(
        ne(domains.name, BUILT_IN_DOMAIN),
        or(eq(domains.status, "verified"), isNotNull(domains.declaredVerifiedAt)),
      ),
    )
    .orderBy(domains.name)
    .limit(domainsMax + 1);
  if (verified.length === 0) return notChecked("No domain is verified yet.");
  const results = await checkEach(
    verified.slice(0, domainsMax).map((domain) => ({
      name: domain.name,
      run: async () =>
        judge(domain, await checkDomainRecords(deps, domain, AbortSignal.timeout(domainMsMax))),
    })),
    { startedMs, msMax: domainMsMax },
  );
  if (verified.length > domainsMax)
    results.push(notChecked(`Only the first ${domainsMax} domains were checked.`));
  return results;
}

function judge(
  { name, declaredVerifiedAt }: Pick<Domain, "name" | "declaredVerifiedAt">,
  checks: readonly RecordCheck[],
): Result {
  const faulty = checks.filter(({ status }) => status !== "verified");
  const [first] = faulty;
  if (!first) return ok("All records are published.", name);
  const message = `Faulty or missing: ${faulty.map(({ key, askedName, fault }) => `${key} at ${askedName} (${fault})`).join("; ")}.`;
  const advice = first.advice ?? "Publish the records that the domain's page lists.";
  // The operator declared it verified without its records.
  const isProofLost =
    declaredVerifiedAt === null &&
    faulty.some(({ key, status }) => PROOF.includes(key) && status !== "temporary_failure");
  return isProofLost ? failure(message, advice, name) : warning(message, advice, name);
}
