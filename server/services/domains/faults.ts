import { spfLookupsMax } from "#server/mail/spf";

/** What an advice can speak of: the full name, how a panel wants it, what should stand there, what was found. */
export type FaultFacts = { host: string; label: string; expected: string; found: string };

/** Every fault that the DNS doctor knows by name, and what to do about it. */
export const FAULTS = {
  missing: ({ host }) =>
    `Nothing stands at ${host} yet. Publish the record; DNS may take some hours to show it everywhere.`,
  wrong_value: ({ host, expected }) => `Something else stands at ${host}. Change its value to: ${expected}`,
  doubled_name: ({ label, found }) =>
    `The record stands at ${found}: the panel added the domain by itself. Enter only ${label} as its name.`,
  quoted_value: ({ expected }) =>
    `Quotation marks became part of the value: the panel adds them by itself. Enter the value without: ${expected}`,
  split_value: ({ host }) =>
    `The value at ${host} was cut into pieces that do not join to what it should be. Enter it in one piece, without quotation marks or blanks of your own; or as several strings of one record, never as several records.`,
  truncated_value: ({ host }) =>
    `Only the beginning of the value arrived at ${host}. It is longer than the 255 characters of one string: enter it as several strings of one record, or where the panel cannot, at another provider.`,
  several_records: ({ host }) =>
    `Several key records stand at ${host}, and receivers may take any. Remove all but the right one.`,
  several_spf: ({ host }) =>
    `More than one record at ${host} begins with v=spf1, so none of them counts. Merge them into one.`,
  too_many_lookups: ({ host }) =>
    `The SPF record at ${host} costs more than ${spfLookupsMax} look-ups in DNS, and receivers stop there with an error. Remove what you do not send with, or name addresses instead of includes.`,
  proxied_cname: ({ host, found }) =>
    `What answers at ${host} is ${found}, in place of the record. Turn proxying off for this name, or remove the CNAME that hides it.`,
  dmarc_missing: ({ host, expected }) =>
    `There is no DMARC policy at ${host}, which large receivers ask of senders. To begin with, publish: ${expected}`,
  dmarc_unaligned: ({ found }) => found,
  dmarc_invalid: ({ host, expected }) =>
    `The DMARC record at ${host} names no policy, so it does not count. Give it one of p=none, p=quarantine or p=reject, as in: ${expected}`,
  several_dmarc: ({ host }) =>
    `More than one DMARC record stands at ${host}, so none of them counts. Leave one.`,
  servfail: ({ host }) =>
    `The name servers could not tell about ${host} just now. It is looked at again by itself; where it stays so, the zone or its DNSSEC is broken.`,
  timeout: ({ host }) =>
    `No name server answered for ${host} in time. It is looked at again by itself; where it stays so, the zone's servers are down.`,
} as const satisfies Record<string, (facts: FaultFacts) => string>;

export type FaultName = keyof typeof FAULTS;
