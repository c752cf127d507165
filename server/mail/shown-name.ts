import { domainToUnicode } from "node:url";

/** A domain name as people read it: only where that differs from its A-labels. */
export type ShownName = {
  /** The name in its own script, such as `bücher.example`; null where the name is plain ASCII. */
  unicode: string | null;
  /** What a reader has to know before trusting the look of it; null where nothing is odd. */
  warning: string | null;
};

/** Scripts that stand together in the names of one language (UTS 39, "highly restrictive"). */
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

/** Letters of other scripts that most typefaces draw like Latin ones. */
const LOOKS_LATIN = /^[асԁеһіјӏорԛѕухԝүҽαεικνορτυχωօսոհ0-9-]+$/u;

/** Tells a name in A-labels both ways, with a warning for labels that may be taken for another name. */
export function showName(ascii: string): ShownName {
  const unicode = ascii.includes("xn--") ? domainToUnicode(ascii) : ascii;
  if (unicode === "" || unicode === ascii) return { unicode: null, warning: null };
  const odd = unicode.split(".").map(oddityOf).find(Boolean) ?? null;
  return { unicode, warning: odd };
}

function oddityOf(label: string): string | null {
  const scripts = SCRIPTS.filter(([, pattern]) => pattern.test(label)).map(([name]) => name);
  const isUsual = scripts.length < 2 || TOGETHER.some((set) => scripts.every((name) => set.includes(name)));
  if (!isUsual)
    return `“${label}” mixes letters of ${scripts.join(" and ")}. Mail servers and readers take such a name for an imitation of another.`;
  if (scripts[0] !== undefined && scripts[0] !== "Latin" && LOOKS_LATIN.test(label))
    return `“${label}” is written in ${scripts[0]} letters that look like Latin ones. Make sure that it is the name you mean.`;
  return null;
}
