import { domainToUnicode } from "node:url";

/** The scripts that are in use (UAX #31, table 5), and the word for those of which East Asian text is made together. */
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

/** What is written together, and with Latin letters in between (UTS #39 section 5.2, "highly restrictive"). */
const TOGETHER: readonly (readonly Script[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

const OF_SCRIPT = SCRIPTS.map((script) => [script, new RegExp(`\\p{scx=${script}}`, "u")] as const);
/** Digits, hyphens and marks, which belong to any script. */
const OF_ANY = /[\p{sc=Zyyy}\p{sc=Zinh}]/u;

/** A label whose letters are of scripts that nobody writes together, and the scripts, in the order of the letters. */
export type MixedLabel = { label: string; scripts: string[] };

/**
 * The labels of a domain, in any form, that mix scripts: with a letter of another script a name can be made that looks like
 * somebody else's.
 */
export function mixedLabelsOf(domain: string): MixedLabel[] {
  return domainToUnicode(domain)
    .split(".")
    .flatMap((label) => {
      const letters = [...label].filter((letter) => !OF_ANY.test(letter)).map(scriptsOf);
      const covers = [...SCRIPTS.map((script) => [script]), ...TOGETHER, []];
      const isOne = covers.some((cover) =>
        letters.every((own) =>
          cover.length === 0 ? own.length === 0 : own.some((script) => cover.includes(script)),
        ),
      );
      if (isOne) return [];
      return [{ label, scripts: [...new Set(letters.map(([script = "another script"]) => script))] }];
    });
}

const scriptsOf = (letter: string): Script[] =>
  OF_SCRIPT.filter(([, isOf]) => isOf.test(letter)).map(([script]) => script);
