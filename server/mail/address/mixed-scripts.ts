import { toUnicodeDomain } from "./idna";

/** The recommended scripts (UAX #31, table 5). */
const SCRIPTS = [
  "Latin",
  "Cyrillic",
  "Greek",
  "Arabic",
  "Armenian",
  "Bengali",
  "Bopomofo",
  "Devanagari",
  "Ethiopic",
  "Georgian",
  "Gujarati",
  "Gurmukhi",
  "Han",
  "Hangul",
  "Hebrew",
  "Hiragana",
  "Kannada",
  "Katakana",
  "Khmer",
  "Lao",
  "Malayalam",
  "Myanmar",
  "Oriya",
  "Sinhala",
  "Tamil",
  "Telugu",
  "Thaana",
  "Thai",
  "Tibetan",
] as const;
type Script = (typeof SCRIPTS)[number];

/** Scripts that may be combined in one label (UTS #39 section 5.2, "highly restrictive"). */
const TOGETHER: readonly (readonly Script[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

const OF_SCRIPT = SCRIPTS.map((script) => [script, new RegExp(`\\p{scx=${script}}`, "u")] as const);
/** Digits, hyphens and marks, which are valid with every script. */
const OF_ANY = /[\p{sc=Zyyy}\p{sc=Zinh}]/u;

/** A label with a suspicious mix of scripts, and the scripts in the order of the letters. */
export type MixedLabel = { label: string; scripts: string[] };

/**
 * Returns the labels of a domain, in A-label or Unicode form, that mix scripts: a letter of another script can make a name
 * look like a different domain.
 */
export function findMixedLabels(domain: string): MixedLabel[] {
  return (toUnicodeDomain(domain) ?? "").split(".").flatMap((label) => {
    const letters = [...label].filter((letter) => !OF_ANY.test(letter)).map(scriptsOf);
    const covers = [...SCRIPTS.map((script) => [script]), ...TOGETHER, []];
    const isConsistent = covers.some((cover) =>
      letters.every((own) =>
        cover.length === 0 ? own.length === 0 : own.some((script) => cover.includes(script)),
      ),
    );
    if (isConsistent) return [];
    return [{ label, scripts: [...new Set(letters.map(([script = "another script"]) => script))] }];
  });
}

const scriptsOf = (letter: string): Script[] =>
  OF_SCRIPT.filter(([, isOf]) => isOf.test(letter)).map(([script]) => script);
