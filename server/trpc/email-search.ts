import { isId } from "#server/ids";
import { parseMailbox } from "#server/mail/address";
import type { EmailFilter } from "#server/services/emails/filter";

/** `tag:name=value`, `tag:name:value` or `tag:name`. */
const TAG = /^tag:([A-Za-z0-9_-]{1,256})(?:[=:]([A-Za-z0-9_-]{1,256}))?$/i;
const NAMED = /^(to|from):(.+)$/i;

/**
 * What somebody means who writes into the one search field: the id of a mail or its Message-ID; the whole address of a
 * recipient, with or without `to:`; `from:` with an address or `@` and a domain; `tag:` with a name, or name and value. All
 * other words are looked for together in subjects and recipients.
 */
export function readSearch(text: string): EmailFilter {
  const id = idIn(text.trim());
  if (id !== null) return { id };
  const filter: EmailFilter = {};
  const words = text
    .split(/\s+/)
    .filter((word) => word !== "" && !takes(filter, word))
    .join(" ");
  return words === "" ? filter : { ...filter, words };
}

/** The Message-ID of our mail begins with its id. */
function idIn(text: string): string | null {
  const bare = text.replace(/^<|>$/g, "").split("@", 1)[0]?.toLowerCase() ?? "";
  return isId(bare) ? bare : null;
}

/** Whether a word says something of its own, which is then noted; one of a kind, the first. */
function takes(filter: EmailFilter, word: string): boolean {
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
