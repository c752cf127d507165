import { spfLookupsMax } from "#server/mail/dns/spf/spf";

/**
 * Values that a message can contain: the full name, the name in a DNS panel, the expected value, the value
 * found.
 */
export type FaultFacts = { host: string; label: string; expected: string; found: string };

const orPublish = (expected: string): string => (expected === "" ? "" : ` Publish instead: ${expected}`);

/** Every fault of a DNS record, and how to fix it. */
export const FAULTS = {
  missing: ({ host }) =>
    `No record found at ${host} yet. Publish the record; DNS changes can take some hours to become visible everywhere.`,
  wrong_value: ({ host, expected, found }) =>
    `The record at ${host} has another value. ${found && `${found} `}Change it to: ${expected}`,
  doubled_name: ({ label, found }) =>
    `The record was found at ${found}: the DNS panel appended the domain. Enter only ${label} as its name.`,
  quoted_value: ({ host, expected }) =>
    `The value at ${host} contains quotation marks: the DNS panel adds them automatically. Enter the value without them: ${expected}`,
  split_value: ({ host, expected }) =>
    `The value at ${host} was split into pieces that do not join to the expected value. Enter it in one piece, without added quotation marks or spaces; or as several strings of one record, never as several records: ${expected}`,
  truncated_value: ({ host }) =>
    `The value at ${host} is truncated. It is longer than 255 characters, the limit of one string: enter it as several strings of one record. If your DNS panel does not support that, use another DNS provider.`,
  several_records: ({ host }) =>
    `There are several key records at ${host}, and receivers may use any of them. Remove all but the correct one.`,
  several_spf: ({ host, expected }) =>
    `More than one record at ${host} begins with v=spf1, so all of them are invalid. Merge them into one.${orPublish(expected)}`,
  too_many_lookups: ({ host, expected }) =>
    `The SPF record at ${host} needs more than ${spfLookupsMax} DNS lookups, and receivers stop there with an error. Remove services you do not send with, or list IP addresses instead of includes.${orPublish(expected)}`,
  spf_invalid: ({ host, found, expected }) =>
    `The SPF record at ${host} is invalid, and receivers return an error. ${found}${orPublish(expected)}`,
  spf_ignored: ({ host, found, expected }) =>
    `A part of the SPF record at ${host} has no effect. ${found}${orPublish(expected)}`,
  spf_open: ({ host, found, expected }) =>
    `The SPF record at ${host} allows every server to send. ${found}${orPublish(expected)}`,
  spf_no_address: ({ host, found }) =>
    `${found}, which sends the email, has no address in DNS, so the SPF record at ${host} cannot pass. The operator of this installation publishes an A or AAAA record for it.`,
  proxied_cname: ({ host, found }) =>
    `Instead of the record, ${host} returns ${found}. Turn off proxying for this name, or remove the CNAME that hides the record.`,
  dmarc_missing: ({ host, expected }) =>
    `There is no DMARC policy at ${host}, which large receivers require. Start with: ${expected}`,
  dmarc_unaligned: ({ found }) => found,
  dmarc_invalid: ({ host, found, expected }) =>
    `The DMARC record at ${host} has no valid policy, so receivers may ignore it. Use p=none, p=quarantine or p=reject. ${found}${orPublish(expected)}`,
  dmarc_syntax: ({ host, found, expected }) =>
    `The DMARC record at ${host} has errors, so receivers may ignore it or a part of it. ${found}${orPublish(expected)}`,
  dmarc_reports: ({ host, found, expected }) =>
    `No reports are sent to an address in the DMARC record at ${host}. ${found}${orPublish(expected)}`,
  dmarc_report_unauthorized: ({ host, found }) =>
    `The DMARC record at ${host} sends reports to another domain, which must allow it (RFC 7489 section 7.1). Remove the address, or publish there a TXT record with the value v=DMARC1; at: ${found}`,
  several_dmarc: ({ host, expected }) =>
    `There is more than one DMARC record at ${host}, so all of them are invalid. Keep one, such as: ${expected}`,
  links_not_served: ({ host, found }) =>
    `The CNAME record is correct, but HTTPS at ${host} does not serve links yet: ${found}. They keep the host name of this service until it does. The operator's proxy needs a certificate for ${host}, and Backstamp itself must reach it. It is checked again automatically.`,
  held_elsewhere: ({ found }) => found,
  servfail: ({ host, found }) =>
    `${found ? `The record at ${host} could not be evaluated. ${found}` : `The lookup of ${host} failed.`} It is checked again automatically. If it keeps failing, the zone or its DNSSEC is broken.`,
  timeout: ({ host }) =>
    `The lookup of ${host} timed out. It is checked again automatically. If it keeps failing, the zone's name servers are down.`,
} as const satisfies Record<string, (facts: FaultFacts) => string>;

export type FaultName = keyof typeof FAULTS;
