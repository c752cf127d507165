import { ERASED_ADDRESS } from "#db/schema/audit";
import { readMailbox } from "#server/mail/address/address";
import { toUnicodeDomain } from "#server/mail/address/idna";
import { foldAddress } from "#server/shared/fold-address";

/** A longer text is not read as a list of mailboxes. */
const listCharsMax = 4_000;

export type Eraser = ReturnType<typeof createEraser>;

/**
 * Finds one address in stored values, in any letter case, with its domain in ASCII or Unicode, also percent-encoded as in
 * paths and links, and replaces it. A longer address that contains it is another address.
 */
export function createEraser(address: string) {
  const folded = foldAddress(address);
  const spellings = spellingsOf(folded);
  const pattern = patternOf(spellings);
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
    return text
      .split(",")
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
  return { folded, spellings, isAddress, isMailbox, indexOf, hasMention, eraseText, eraseValue };
}

function spellingsOf(folded: string): string[] {
  const at = folded.lastIndexOf("@");
  const [local, domain] = [folded.slice(0, at), folded.slice(at + 1)];
  const plain = [domain, toUnicodeDomain(domain) ?? domain].map((name) => `${local}@${name}`);
  return [...new Set([...plain, ...plain.map((text) => foldAddress(encodeURIComponent(text)))])];
}

/** Before an address, only an escape such as `%3C` may end with a letter or digit. */
function patternOf(spellings: readonly string[]): RegExp {
  const any = spellings.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
  return new RegExp(
    `(?:(?<=%[0-9a-f]{2})|(?<![\\p{L}\\p{N}._+-]))(?:${any})(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`,
    "giu",
  );
}

const keepBlanks = (part: string): string => part.replace(part.trim(), () => ERASED_ADDRESS);

/** SQL: the text `t` contains one of the spellings. `t` is in lower case. */
export const HAS_SPELLING = (text: string, spellings: string): string =>
  `exists (select from unnest(${spellings}::text[]) as s(spelling) where strpos(${text}, s.spelling) > 0)`;
