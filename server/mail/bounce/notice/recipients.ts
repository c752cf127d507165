import { type Field, findAddresses, findFields } from "../fields";
import type { Notice } from "./text";

/** A recipient that a notice names: its addresses, the one that we sent to first, and the lines about it. */
export type Entry = { addresses: string[]; lines: string[] };

const addressesMax = 100;

/** Marks, and the codes of a reply, before an address at the start of a line. */
const MARKS = /^[\s"'(<[*>|•·-]{0,40}(?:[45]\d\d[ -](?:[45]\.\d{1,3}\.\d{1,3} )?["'(<[]{0,3})?/;
/** `ann@example.com>:`, `ann@example.com...` or `ann@example.com on Mon, …`, but not a sentence with one. */
const LEADING =
  /^([^\s@<>()[\],;:"'|]{1,64}@[^\s@<>()[\],;:"'|]{1,255}?)[>)\]"']{0,3}(?:\s*$|:|,? {1,3}on\s|\s{1,3}[([]|\.{2,}|\s\.{2,}| (?:error|invalid|unknown)\b)/i;
/** The address that was expanded to the one that failed. */
const ORIGIN = /\b(?:expanded|generated|redirected) from:? <?([^\s@<>()]{1,64}@[^\s@<>()]{1,255})/i;
/** The type of an address, in Exchange and MailEnable. */
const ADDRESS_TYPE = /\bSMTP[=:]/g;

const CONTACT = /contact|question|assistance|help|support|administrator|postmaster|complain|message-id/i;
const RECIPIENT =
  /\b(?:to|for|rcpt|recipients?|address|addresses|user|mailbox|account|reach|size|attempts|addressed)\b/i;
const ROLE =
  /^(?:postmaster|hostmaster|mailer-daemon|abuse|support|help|helpdesk|no-?reply|sysadmin|administrator)@/i;

/**
 * Finds the recipients that a notice names: the lines that start with an address; otherwise the addresses in
 * its text that are not of the report's own sender and recipient. `failed` are the recipients that the header
 * of the report names: no others count then. `returnedTo` are those of the returned email; of several
 * addresses in a text they count, and without any one the only one of them.
 */
export function findEntries(
  { subject, lines }: Notice,
  given: { failed: readonly string[]; own: readonly string[]; returnedTo: readonly string[] },
): Entry[] {
  const leading = findLeading(lines, given.failed);
  if (leading.length > 0) return leading.slice(0, addressesMax);
  const own = new Set(given.own.map((address) => address.toLowerCase()));
  const returned = new Set(given.returnedTo.map((address) => address.toLowerCase()));
  const all = [...lines, subject].flatMap((line) => {
    const start = line.slice(0, 500);
    const isLabelled = RECIPIENT.test(start);
    if (CONTACT.test(start) && !isLabelled) return [];
    return findAddresses(start.replace(ADDRESS_TYPE, " ")).map((address) => ({ address, isLabelled }));
  });
  const isOf = (addresses: ReadonlySet<string>) => (each: { address: string }) =>
    addresses.has(each.address.toLowerCase());
  const sent = all.filter(isOf(returned));
  const others = all.filter((each) => !isOf(own)(each) && !ROLE.test(each.address));
  const labelled = others.filter(({ isLabelled }) => isLabelled);
  const pool = [sent, labelled, others.slice(0, 1)].find((list) => list.length > 0) ?? [];
  const addresses = new Map(pool.map(({ address }) => [address.toLowerCase(), address]));
  const [only] = given.returnedTo;
  if (addresses.size === 0 && only !== undefined && returned.size === 1) addresses.set(only, only);
  return [...addresses.values()]
    .slice(0, addressesMax)
    .map((address) => ({ addresses: [address], lines: [] }));
}

/**
 * The recipients whose addresses start a line, of `failed` if that is not empty. The lines of each are those
 * up to the next address.
 */
export function findLeading(lines: readonly string[], failed: readonly string[]): Entry[] {
  const entries = new Map(
    failed.map((address) => [address.toLowerCase(), { address, lines: [] as string[] }]),
  );
  let open: { lines: string[] } | undefined;
  for (const line of lines) {
    const leading = readLeading(line);
    const known = leading === null ? undefined : entries.get(leading.address.toLowerCase());
    if (leading === null || (!known && failed.length > 0)) {
      open?.lines.push(line);
      continue;
    }
    const { address, before, after } = leading;
    open = known ?? { lines: [] };
    if (!known) entries.set(address.toLowerCase(), { address, lines: open.lines });
    open.lines.push(/\d{3}/.test(before) ? line : after.replace(/^[>:)\]"' ]{1,40}/, ""));
  }
  return [...entries.values()].map(({ address, lines: own }) => {
    const origin = ORIGIN.exec(own.slice(0, 5).join(" ").slice(0, 2_000))?.[1];
    const addresses = origin === undefined || origin === address ? [address] : [origin, address];
    return { addresses, lines: own };
  });
}

/** The address at the start of a line, and what stands around it. */
function readLeading(line: string): { address: string; before: string; after: string } | null {
  const before = MARKS.exec(line)?.[0] ?? "";
  const rest = line.slice(before.length);
  const address = LEADING.exec(rest)?.[1];
  return address === undefined ? null : { address, before, after: rest.slice(address.length) };
}

/** The recipients of a returned email by its header; of its transport, if the header names none. */
export function readReturnedTo(fields: readonly Field[]): string[] {
  const named = ["to", "cc"]
    .flatMap((name) => findFields(fields, name))
    .flatMap((value) => findAddresses(value));
  if (named.length > 0) return named;
  const received = findFields(fields, "received").flatMap(
    (value) => /\bfor <?([^\s<>;]{1,320}@[^\s<>;]{1,255})/.exec(value)?.[1] ?? [],
  );
  return received.slice(-1);
}
