import { toUnicodeDomain } from "./idna";

/** The readable form of a domain name, if it differs from its A-labels. */
export type DomainDisplay = {
  /** The name in its own script, such as `bücher.example`; null where the name is plain ASCII. */
  unicode: string | null;
  /** A warning about a suspicious name; null if there is none. */
  warning: string | null;
};

/** Scripts that may be combined in one name (UTS 39, "highly restrictive"). */
const TOGETHER: readonly (readonly string[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

const SCRIPTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Latin", /\p{Script=Latin}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Hebrew", /\p{Script=Hebrew}/u],
  ["Arabic", /\p{Script=Arabic}/u],
  ["Devanagari", /\p{Script=Devanagari}/u],
  ["Thai", /\p{Script=Thai}/u],
  ["Georgian", /\p{Script=Georgian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
  ["Han", /\p{Script=Han}/u],
  ["Hiragana", /\p{Script=Hiragana}/u],
  ["Katakana", /\p{Script=Katakana}/u],
  ["Hangul", /\p{Script=Hangul}/u],
  ["Bopomofo", /\p{Script=Bopomofo}/u],
];

/** Letters of other scripts that look like Latin letters in most typefaces. */
const LOOKS_LATIN = /^[асԁеһіјӏорԛѕухԝүҽαεικνορτυχωօսոհ0-9-]+$/u;

/** Decodes a name in A-labels and warns about labels that can be mistaken for another name. */
export function describeDomainName(ascii: string): DomainDisplay {
  const unicode = toUnicodeDomain(ascii);
  if (unicode === null || unicode === ascii) return { unicode: null, warning: null };
  const warning = unicode.split(".").map(findWarning).find(Boolean) ?? null;
  return { unicode, warning };
}

function findWarning(label: string): string | null {
  const scripts = SCRIPTS.filter(([, pattern]) => pattern.test(label)).map(([name]) => name);
  const isConsistent =
    scripts.length < 2 || TOGETHER.some((set) => scripts.every((name) => set.includes(name)));
  if (!isConsistent)
    return `“${label}” mixes ${scripts.join(" and ")} letters. Mail servers and recipients may treat such a name as an imitation of another domain.`;
  if (scripts[0] !== undefined && scripts[0] !== "Latin" && LOOKS_LATIN.test(label))
    return `“${label}” consists of ${scripts[0]} letters that look like Latin letters. Check that this is the intended name.`;
  return null;
}
