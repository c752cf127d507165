import { ERASED_ADDRESS } from "#db/schema/audit";
import { readMailbox } from "#server/mail/address/address";
import { toUnicodeDomain } from "#server/mail/address/idna";
import { foldAddress } from "#server/shared/text/fold-address";
import { patternOf } from "./address-pattern";

/** A longer text is not read as a list of mailboxes. */
const listCharsMax = 4_000;

export type Eraser = ReturnType<typeof createEraser>;

/**
 * Finds one address in stored values, in any letter case, with its domain in ASCII or Unicode, also escaped
 * as in paths, links and HTML, and replaces it. A longer address that contains it is another address.
 */
export function createEraser(address: string) {
  const folded = foldAddress(address);
  const spellings = spellingsOf(folded);
  const { pattern, search } = patternOf(spellings);
  const isAddress = (text: string): boolean => spellings.includes(foldAddress(text));

  /** The display name is a part of a mailbox. */
  const isMailbox = (text: string): boolean => {
    const read = readMailbox(text);
    return read.ok && isAddress(read.mailbox.address);
  };
  /** The place of the first mention; -1 without one. */
  const indexOf = (text: string): number => text.search(pattern);
  const hasMention = (text: string): boolean => indexOf(text) !== -1;
  const eraseText = (text: string): string => {
    if (!hasMention(text)) return text;
    if (text.length > listCharsMax) return text.replaceAll(pattern, ERASED_ADDRESS);
    return splitMailboxes(text)
      .map((part) => (isMailbox(part) ? keepBlanks(part) : part.replaceAll(pattern, ERASED_ADDRESS)))
      .join(",");
  };
  /** The same in each text of a JSON value, names of fields included. */
  const eraseValue = (value: unknown): unknown => {
    if (typeof value === "string") return eraseText(value);
    if (Array.isArray(value)) return value.map(eraseValue);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [eraseText(name), eraseValue(item)]),
    );
  };
  return { folded, spellings, search, isAddress, isMailbox, indexOf, hasMention, eraseText, eraseValue };
}

/** The address with its domain in ASCII and in Unicode, as columns with one address contain it. */
function spellingsOf(folded: string): string[] {
  const at = folded.lastIndexOf("@");
  const [local, domain] = [folded.slice(0, at), folded.slice(at + 1)];
  return [...new Set([domain, toUnicodeDomain(domain) ?? domain].map((name) => `${local}@${name}`))];
}

/**
 * The text at its commas, but not at those in a quoted display name: `"Lee, Ann" <ann@example.com>` is one
 * mailbox.
 */
function splitMailboxes(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (isQuoted && text[at] === "\\") at++;
    else if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === "," && !isQuoted) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  // A single quotation mark, as in 5", begins no name.
  return isQuoted ? text.split(",") : [...parts, text.slice(from)];
}

const keepBlanks = (part: string): string => part.replace(part.trim(), () => ERASED_ADDRESS);
