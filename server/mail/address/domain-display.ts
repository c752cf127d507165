import { toUnicodeDomain } from "./idna";

/** The recommended scripts (UAX #31, table 5). */
const SCRIPTS =
  "Latin Cyrillic Greek Arabic Armenian Bengali Bopomofo Devanagari Ethiopic Georgian Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan".split(
    " ",
  );

/** Scripts that may be combined in one label (UTS #39 section 5.2, "highly restrictive"). */
const TOGETHER: readonly (readonly string[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

/** The name of all other scripts. */
const OTHER = "another script";

const OF_SCRIPT = SCRIPTS.map((script) => [script, new RegExp(`\\p{scx=${script}}`, "u")] as const);
/** Digits, hyphens and marks, which are valid with every script. */
const OF_ANY = /[\p{sc=Zyyy}\p{sc=Zinh}]/u;

/**
 * Returns the labels of a domain, in A-label or Unicode form, that mix scripts: a letter of another script
 * can make a name look like a different domain. The scripts are in the order of the letters.
 */
export function findMixedLabels(domain: string): { label: string; scripts: string[] }[] {
  return (toUnicodeDomain(domain) ?? "").split(".").flatMap((label) => {
    const letters = [...label].filter((letter) => !OF_ANY.test(letter)).map(scriptsOf);
    const covers = [...SCRIPTS.map((script) => [script]), ...TOGETHER, []];
    const isConsistent = covers.some((cover) =>
      letters.every((own) =>
        cover.length === 0 ? own.length === 0 : own.some((script) => cover.includes(script)),
      ),
    );
    if (isConsistent) return [];
    return [{ label, scripts: [...new Set(letters.map(([script = OTHER]) => script))] }];
  });
}

const scriptsOf = (letter: string): string[] =>
  OF_SCRIPT.filter(([, isOf]) => isOf.test(letter)).map(([script]) => script);

/** Letters of other scripts that look like Latin letters in most typefaces. */
const LOOKS_LATIN = /^[асԁеһіјӏорԛѕухԝүҽαεικνορτυχωօսոհ0-9-]+$/u;

/**
 * Decodes a name in A-labels and warns about labels that can be mistaken for another name. `unicode` is null
 * where the name is plain ASCII, `warning` where there is none.
 */
export function describeDomainName(ascii: string): { unicode: string | null; warning: string | null } {
  const unicode = toUnicodeDomain(ascii);
  if (unicode === null || unicode === ascii) return { unicode: null, warning: null };
  const [mixed] = findMixedLabels(unicode);
  if (mixed) {
    const scripts = [...SCRIPTS, OTHER].filter((script) => mixed.scripts.includes(script)).join(" and ");
    const warning = `“${mixed.label}” mixes ${scripts} letters. Mail servers and recipients may treat such a name as an imitation of another domain.`;
    return { unicode, warning };
  }
  const similar = unicode.split(".").find((label) => LOOKS_LATIN.test(label) && /[^\0-\x7f]/.test(label));
  if (similar === undefined) return { unicode, warning: null };
  const [script] = [...similar].flatMap(scriptsOf);
  const warning = `“${similar}” consists of ${script} letters that look like Latin letters. Check that this is the intended name.`;
  return { unicode, warning };
}
