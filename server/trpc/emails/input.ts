import { z } from "zod";
import { parseMailbox } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import { EMAIL_FILTER, type EmailFilter } from "#server/services/emails/read/filter";
import { hourMs } from "#server/shared/durations";
import { type EmailFilterName, parseTag, WITHIN, WITHIN_HOURS } from "#server/shared/email-words";

/** The filters of the console's list: those of the API, and two that stand for several. */
export const FILTER = {
  ...EMAIL_FILTER,
  /** An id, an address, `tag:name:value`, words of the subject, or several of them. */
  search: z.string().trim().max(320).optional(),
  within: z.enum(WITHIN).optional(),
} satisfies Record<EmailFilterName, z.ZodType>;

type FilterInput = z.output<z.ZodObject<typeof FILTER>>;

/** The filter at that time. A separate field overrides the same term in the search. */
export function filterOf({ search, ...fields }: FilterInput, now: Date): EmailFilter {
  const { within } = fields;
  const set = Object.fromEntries(Object.entries(fields).filter(([name, value]) => name in FILTER && value));
  const range = within ? { since: new Date(now.getTime() - WITHIN_HOURS[within] * hourMs) } : {};
  return { ...(search ? parseSearch(search) : {}), ...range, ...set };
}

/** A tag after `tag:`, also as `name=value`. */
const TAG = /^tag:(.+)$/i;
const NAMED = /^(to|from):(.+)$/i;
/** The filters for an address and for `@` with a domain. */
const FIELDS = {
  any: { address: "address", domain: "any_domain" },
  to: { address: "recipient", domain: "recipient_domain" },
  from: { address: "sender", domain: "domain" },
} as const;

/**
 * Parses the search field: an email id or Message-ID; a complete address, or `@` and a domain, of a recipient
 * or the sender, or of only one of them after `to:` or `from:`; `tag:` with `name` or `name:value`. Emails
 * match that have all other words, or words that begin with them, in their subject or recipients.
 */
export function parseSearch(text: string): EmailFilter {
  const id = parseId(text.trim());
  if (id !== null) return { id };
  const filter: EmailFilter = {};
  const words = text
    .split(/\s+/)
    .filter((word) => word !== "" && !addTerm(filter, word))
    .join(" ");
  const { address, ...named } = words === "" ? filter : { ...filter, words };
  if (address === undefined) return named;
  // Beside a recipient, an address is the sender's, and the reverse.
  if (named.recipient !== undefined && named.sender === undefined) return { ...named, sender: address };
  if (named.sender !== undefined && named.recipient === undefined) return { ...named, recipient: address };
  return { ...named, address };
}

/** The Message-ID of our emails starts with the email id. */
function parseId(text: string): string | null {
  const bare = text.replace(/^<|>$/g, "").split("@", 1)[0]?.toLowerCase() ?? "";
  return isId(bare) ? bare : null;
}

/**
 * Adds a word to the filter if it has a special meaning; only the first of each kind. Returns whether it was
 * added.
 */
function addTerm(filter: EmailFilter, word: string): boolean {
  const tag = parseTag(TAG.exec(word)?.[1]?.replace("=", ":") ?? "");
  if (tag !== null && filter.tag === undefined) {
    filter.tag = tag;
    return true;
  }
  const [, role = "any", rest = word] = NAMED.exec(word) ?? [];
  const fields = FIELDS[role.toLowerCase() as keyof typeof FIELDS];
  const isDomain = /^@[^@\s]+$/.test(rest);
  const read = parseMailbox(rest);
  const field = isDomain ? fields.domain : fields.address;
  if ((!isDomain && !read.ok) || filter[field] !== undefined) return false;
  filter[field] = read.ok ? read.mailbox.address : rest.slice(1).toLowerCase();
  return true;
}
