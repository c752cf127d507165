import { decodeWords } from "postal-mime";
import { type ParsedMailbox, parseMailbox, readMailbox } from "../../address/address";
import { type RawField, readValue } from "./fields";

const refuse = (fault: string): ParsedMailbox => ({ ok: false, fault });

/** The older form of a mailbox with its name in a comment: `ann@example.com (Ann)`. */
const NAME_IN_COMMENT = /^([^\s()<>"]{1,400}) *\(([^()\\]{0,400})\)$/;

/**
 * The sender of a message: the only mailbox of its only From field, with the name decoded (RFC 2047). A field
 * that programs could interpret differently is rejected, because it decides which domain sends the message.
 */
export function readFrom(fields: readonly RawField[]): ParsedMailbox {
  const [from, ...others] = fields.filter(({ name }) => name === "from");
  if (!from) return refuse("The message has no From header. Set it to the sender.");
  if (others.length > 0) return refuse("The message has more than one From header. Send it once.");
  // A folded field may continue with a tab.
  const value = readValue(from).replaceAll("\t", " ");
  const [, address, comment = ""] = NAME_IN_COMMENT.exec(value) ?? [];
  const read = parseMailbox(address ?? value);
  if (!read.ok) return refuse(`The From header: ${read.fault}`);
  const name = decodeName(read.mailbox.name ?? comment);
  return { ok: true, mailbox: { ...read.mailbox, name } };
}

/**
 * The mailbox of an address in a list, with its decoded name; null if it is not one that Backstamp supports.
 */
export function readListed(address: string, name: string) {
  const read = readMailbox(address);
  return read.ok ? { ...read.mailbox, name: decodeName(name) } : null;
}

/**
 * A display name without control characters, which could change how it is displayed, and without halves of
 * characters, which PostgreSQL cannot store; null for none.
 */
function decodeName(name: string): string | null {
  const decoded = decodeWords(name)
    .slice(0, 300)
    .replace(/[\p{Cc}\p{Cs}]+/gu, " ")
    .trim();
  return decoded === "" ? null : decoded;
}
