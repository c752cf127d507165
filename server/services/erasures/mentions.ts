import { ERASED_ADDRESS } from "#db/schema/audit";
import { parseLongMailbox } from "#server/mail/address/address";
import { toUnicodeDomain } from "#server/mail/address/idna";
import { foldAddress } from "#server/shared/text/fold-address";

const syntaxChars = /[\\^$.*+?()[\]{}|/]/g;
const plainChar = /^[a-z0-9]$/;

/** Names of characters of addresses in HTML. All others have numbers. */
const ENTITIES: Record<string, string> = {
  "!": "excl",
  "#": "num",
  $: "dollar",
  "%": "percnt",
  "&": "amp",
  "'": "apos",
  "*": "ast",
  "+": "plus",
  ".": "period",
  "/": "sol",
  "=": "equals",
  "?": "quest",
  "@": "commat",
  "^": "hat",
  _: "lowbar",
  "`": "grave",
  "{": "lbrace",
  "|": "vert",
  "}": "rbrace",
};

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
    const read = parseLongMailbox(text);
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

/**
 * Matches these spellings of an address, in lower case, and in the expression for texts in any letter case.
 * Each character other than a letter or digit of ASCII also matches its escapes: `%40` and `%2540` in links,
 * `=40` in quoted-printable text, `&#64;`, `&#x40;` and `&commat;` in HTML, and `\303\251` as PostgreSQL
 * formats bytes. Alternatives of a character begin differently and repeat nothing without limit, so that a
 * search takes linear time.
 *
 * `search` is for SQL (`HAS_MENTION`): a part that all spellings contain, and the expression without its
 * borders.
 */
function patternOf(spellings: readonly string[]): { pattern: RegExp; search: [string, string] } {
  const any = spellings.map((text) => [...text].map(escapesOf).join("")).join("|");
  // Before an address, only an escape such as `%3C` may end with a letter or digit; `%2B` is a part of a
  // longer address.
  const before = "(?:(?<=%(?!2[bde]|5f)[2-7][0-9a-f])|(?<![\\p{L}\\p{N}._+-]))";
  const after = "(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])";
  return { pattern: new RegExp(`${before}(?:${any})${after}`, "giu"), search: [partOf(spellings), any] };
}

function escapesOf(char: string): string {
  if (plainChar.test(char)) return char;
  const bytes = [...Buffer.from(char)];
  const code = char.codePointAt(0) ?? 0;
  const numbers = [`0{0,5}${code}`, `x0{0,5}${code.toString(16)}`].map((text) => `&#${text};?`);
  const hex = bytes.map((byte) => `[%=](?:25){0,2}${byte.toString(16).padStart(2, "0")}`).join("");
  const octal = bytes.map((byte) => `\\\\${byte.toString(8)}`).join("");
  const name = ENTITIES[char];
  return `(?:${[
    char.replaceAll(syntaxChars, "\\$&"),
    hex,
    ...numbers,
    ...(name ? [`&${name};`] : []),
    ...(bytes.length > 1 ? [octal] : []),
  ].join("|")})`;
}

/** The longest run of letters and digits of the local part, which is rarer than the domain. */
function partOf(spellings: readonly string[]): string {
  const [first = ""] = spellings;
  const runs = first.slice(0, first.lastIndexOf("@")).split(/[^a-z0-9]+/);
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
}

/**
 * SQL: the text, in lower case, may contain the address. `search` is the parameter with what `patternOf`
 * returns.
 */
export const HAS_MENTION = (text: string, search: string): string =>
  `(case when strpos(${text}, (${search}::text[])[1]) > 0 then ${text} ~ (${search}::text[])[2] else false end)`;

/** SQL: bytes as a text in lower case, in which `HAS_MENTION` finds the address. */
export const TEXT_OF = (bytes: string): string => `lower(encode(${bytes}, 'escape'))`;
