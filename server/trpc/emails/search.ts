import { parseMailbox } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import type { EmailFilter } from "#server/services/emails/read/filter";

/** `tag:name=value`, `tag:name:value` or `tag:name`. */
const TAG = /^tag:([A-Za-z0-9_-]{1,256})(?:[=:]([A-Za-z0-9_-]{1,256}))?$/i;
const NAMED = /^(to|from):(.+)$/i;

/**
 * Parses the search field: an email id or Message-ID; the complete address of a recipient, with or without
 * `to:`; `from:` with an address, or with `@` and a domain; `tag:` with a name, or name and value. All other
 * words are searched together in subjects and recipients.
 */
export function readSearch(text: string): EmailFilter {
  const id = parseId(text.trim());
  if (id !== null) return { id };
  const filter: EmailFilter = {};
  const words = text
    .split(/\s+/)
    .filter((word) => word !== "" && !addTerm(filter, word))
    .join(" ");
  return words === "" ? filter : { ...filter, words };
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
  const [, name, value] = TAG.exec(word) ?? [];
  if (name !== undefined && filter.tag === undefined) {
    filter.tag = value === undefined ? { name } : { name, value };
    return true;
  }
  const [, field = "to", rest = word] = NAMED.exec(word) ?? [];
  const isSender = field.toLowerCase() === "from";
  if (isSender && rest.startsWith("@") && filter.domain === undefined) {
    filter.domain = rest.slice(1).toLowerCase();
    return true;
  }
  const read = parseMailbox(rest);
  const known = isSender ? filter.sender : filter.recipient;
  if (!read.ok || known !== undefined) return false;
  filter[isSender ? "sender" : "recipient"] = read.mailbox.address;
  return true;
}
