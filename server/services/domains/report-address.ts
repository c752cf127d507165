import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { Deps } from "#server/deps";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import type { Domain } from "./read";
import { receivesBounces, returnPathHostOf } from "./return-path";

export type ReportAddressDeps = Pick<Deps, "names" | "policy" | "recipientTokens">;

export type ReportAddress = {
  address: string;
  /**
   * The name of a TXT record `v=DMARC1;` by which the domain of the address consents to reports about another
   * domain (RFC 7489 section 7.1); null if it needs none.
   */
  consentHost: string | null;
};

/**
 * The address for aggregate reports about the domain: below its own return path, whose MX record leads here,
 * else at the return path of the installation. Null if this installation receives no email.
 */
export function reportAddressOf(
  domain: Pick<Domain, "id" | "name" | "returnPathLabel">,
  deps: ReportAddressDeps,
): ReportAddress | null {
  const { mailHost, returnPathDomain } = deps.names;
  const host = mailHost ? returnPathHostOf(domain) : returnPathDomain;
  if (host === null || domain.name === BUILT_IN_DOMAIN || !receivesBounces(deps)) return null;
  const isOwn = getRegisteredDomain(host) === getRegisteredDomain(domain.name);
  return {
    address: `${deps.recipientTokens.reportAddress(domain.id)}@${host}`,
    consentHost: isOwn ? null : `${domain.name}._report._dmarc.${host}`,
  };
}

/** The id of the domain that reports to this address are about; null for every other address. */
export const openReportAddress = (deps: Pick<Deps, "recipientTokens">, address: string): string | null =>
  deps.recipientTokens.openReportAddress(address.slice(0, address.lastIndexOf("@")));
