import { parseDomainName } from "#server/mail/address/address";
import type { QueryDns } from "#server/mail/dns/dns";
import { reverseNameOf } from "#server/mail/dns/reverse-name";
import { type DoctorDeps, failure, notChecked, ok, type Result, warning } from "../finding";

/**
 * For direct delivery: whether the addresses of the EHLO name have a PTR record with this name, which
 * resolves to them again (iprev, RFC 8601 section 2.7.3). Large destinations reject or defer email from other
 * addresses.
 */
export async function checkReverseDns({
  dns,
  transportKind,
  ehloName,
}: DoctorDeps): Promise<Result | Result[]> {
  if (transportKind !== "direct")
    return notChecked("Email is not sent directly to MX hosts, so this server needs no PTR record.");
  if (!parseDomainName(ehloName).ok)
    return failure(
      `The EHLO name ${ehloName} is not a full host name.`,
      "Set BACKSTAMP_HOSTNAME to the public name of this server, such as mail.example.com.",
    );
  const addresses = await findAddresses(dns, ehloName);
  if (addresses === null)
    return failure(`The DNS lookup of ${ehloName} failed.`, "Check the name servers of this machine.");
  if (addresses.length === 0)
    return failure(
      `${ehloName} has no address.`,
      "Publish an A record with the public address of this server, or correct BACKSTAMP_HOSTNAME.",
    );
  return Promise.all(addresses.map((address) => checkAddress(dns, ehloName, address)));
}

async function checkAddress(dns: QueryDns, ehloName: string, address: string): Promise<Result> {
  const answer = await dns(reverseNameOf(address), "PTR");
  const names = answer.kind === "answer" ? answer.records.map(withoutDot) : [];
  if (names.includes(withoutDot(ehloName)))
    return ok(`The PTR record of ${address} is ${ehloName}, which resolves to it again.`, address);
  const setIt = `Set the PTR record of ${address} to ${ehloName} at the provider of the address.`;
  if (answer.kind === "servfail" || answer.kind === "timeout")
    return failure(`The lookup of the PTR record of ${address} failed.`, "Check the name servers.", address);
  if (names.length === 0) return failure(`${address} has no PTR record.`, setIt, address);
  const confirmed = await Promise.all(
    names.map(async (name) => ((await findAddresses(dns, name)) ?? []).includes(address)),
  );
  const message = `The PTR record of ${address} is ${names.join(", ")}, and the EHLO name is ${ehloName}.`;
  return confirmed.includes(true) ? warning(message, setIt, address) : failure(message, setIt, address);
}

/** Null if a lookup failed. */
async function findAddresses(dns: QueryDns, name: string): Promise<string[] | null> {
  const answers = await Promise.all([dns(name, "A"), dns(name, "AAAA")]);
  const found = answers.flatMap((answer) => (answer.kind === "answer" ? answer.records : []));
  const isUnknown = answers.some(({ kind }) => kind === "servfail" || kind === "timeout");
  return found.length === 0 && isUnknown ? null : found;
}

const withoutDot = (name: string): string => name.replace(/\.$/, "").toLowerCase();
