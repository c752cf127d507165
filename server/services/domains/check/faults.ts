import { spfLookupsMax } from "#server/mail/dns/spf";

/**
 * Values that a message can contain: the full name, the name in a DNS panel, the expected value, the value
 * found.
 */
export type FaultFacts = { host: string; label: string; expected: string; found: string };

/** Every fault of a DNS record, and how to fix it. */
export const FAULTS = {
  missing: ({ host }) =>
    `No record found at ${host} yet. Publish the record; DNS changes can take some hours to become visible everywhere.`,
  wrong_value: ({ host, expected }) => `The record at ${host} has another value. Change it to: ${expected}`,
  doubled_name: ({ label, found }) =>
    `The record was found at ${found}: the DNS panel appended the domain. Enter only ${label} as its name.`,
  quoted_value: ({ expected }) =>
    `The value contains quotation marks: the DNS panel adds them automatically. Enter the value without them: ${expected}`,
  split_value: ({ host }) =>
    `The value at ${host} was split into pieces that do not join to the expected value. Enter it in one piece, without added quotation marks or spaces; or as several strings of one record, never as several records.`,
  truncated_value: ({ host }) =>
    `The value at ${host} is truncated. It is longer than 255 characters, the limit of one string: enter it as several strings of one record. If your DNS panel does not support that, use another DNS provider.`,
  several_records: ({ host }) =>
    `There are several key records at ${host}, and receivers may use any of them. Remove all but the correct one.`,
  several_spf: ({ host }) =>
    `More than one record at ${host} begins with v=spf1, so all of them are invalid. Merge them into one.`,
  too_many_lookups: ({ host }) =>
    `The SPF record at ${host} needs more than ${spfLookupsMax} DNS lookups, and receivers stop there with an error. Remove services you do not send with, or list IP addresses instead of includes.`,
  proxied_cname: ({ host, found }) =>
    `Instead of the record, ${host} returns ${found}. Turn off proxying for this name, or remove the CNAME that hides the record.`,
  dmarc_missing: ({ host, expected }) =>
    `There is no DMARC policy at ${host}, which large receivers require. Start with: ${expected}`,
  dmarc_unaligned: ({ found }) => found,
  dmarc_invalid: ({ host, expected }) =>
    `The DMARC record at ${host} has no policy, so it is invalid. Add p=none, p=quarantine or p=reject, as in: ${expected}`,
  several_dmarc: ({ host }) =>
    `There is more than one DMARC record at ${host}, so all of them are invalid. Keep one.`,
  held_elsewhere: ({ found }) => found,
  servfail: ({ host }) =>
    `The lookup of ${host} failed. It is checked again automatically. If it keeps failing, the zone or its DNSSEC is broken.`,
  timeout: ({ host }) =>
    `The lookup of ${host} timed out. It is checked again automatically. If it keeps failing, the zone's name servers are down.`,
} as const satisfies Record<string, (facts: FaultFacts) => string>;

export type FaultName = keyof typeof FAULTS;
