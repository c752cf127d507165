import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { checkSync } from "recheck";
import { parseSync } from "vite";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Expressions that the checker cannot prove linear, or finds quadratic, with the reason why their input is
 * bounded. An expression without such a reason is fixed, not added here.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  "/ at position \\d+( \\(line \\d+ column \\d+\\))?/":
    "Parses V8's message for invalid JSON, which is one short line.",
  "/(?<![.:])[.:]+$/": "Starts only where no such character precedes, so no sequence is read twice.",
  "/(?<![\\d.:])(\\d{1,5}) {0,3}(s|m|h)(?:ec|econd|in|inute|our|r)?s?\\b/i":
    "Starts only where no digit precedes, and reads a dozen characters.",
  "/<(?:img|source|video|input|td|table|body|image)\\b[^<>]*\\bhttps?:|url\\(\\s*['\"]?https?:/i":
    "Reads from one `<` or `url(` to the next, so no character is read twice.",
  "/\\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\\b/i":
    "Reads 36 characters of a reply of at most 1,000.",
  '/"(?:[^"\\\\]|\\\\.)*"|\\b(?:true|false|null)\\b/g': "Reads samples of the documentation, which are ours.",
  "/<?([^\\s<>]{1,300}@[^\\s<>]{1,255})>?/": "Reads the first 1,000 characters of a field.",
  "/^([^\\s@<>()[\\],;:\"'|]{1,64}@[^\\s@<>()[\\],;:\"'|]{1,255}?)[>)\\]\"']{0,3}(?:\\s*$|:|,? {1,3}on\\s|\\s{1,3}[([]|\\.{2,}|\\s\\.{2,}| (?:error|invalid|unknown)\\b)/i":
    "Starts only at the beginning of a line, and reads at most 330 characters.",
  "/^arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+){1,3}-\\d{1,2}):\\d{12}:[\\w-]{1,256}(\\.fifo)?$/":
    "Starts only at the beginning, and its parts cannot contain the separators, except for three hyphens.",
  '/\\bre_[0-9A-Za-z]+_[0-9A-Za-z_]{8,}|whsec_[0-9A-Za-z+/=]+|\\b(Bearer|Basic) +[^\\s"]+|-----BEGIN [^-]*PRIVATE KEY-----[\\s\\S]*/g':
    "Each alternative starts at a word boundary or ends before the next match, so no character is read twice.",
};

/**
 * Removes large upper bounds of repetitions: they cost more to prove, and an expression with them is never
 * slower.
 */
const withoutUpperBounds = (pattern: string): string =>
  pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}/g, (whole, least, comma, most) => {
    if (least === undefined || (comma === "" ? Number(least) : Number(most || Number.MAX_VALUE)) <= 4)
      return whole;
    return Number(least) === 0 ? "*" : "+";
  });

/** The first file that contains each expression. */
function readExpressions(): Map<string, { where: string; pattern: string; flags: string }> {
  const found = new Map<string, { where: string; pattern: string; flags: string }>();
  for (const folder of ["server", "db"])
    for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts")) continue;
      const file = `${folder}/${name}`;
      const text = readFileSync(path.join(root, file), "utf8");
      const visit = (node: unknown): void => {
        if (node === null || typeof node !== "object") return;
        if ("regex" in node && isExpression(node.regex)) {
          const { pattern, flags } = node.regex;
          const key = `/${pattern}/${flags}`;
          if (!found.has(key)) found.set(key, { where: file, pattern, flags });
          return;
        }
        for (const child of Object.values(node)) visit(child);
      };
      visit(parseSync(file, text).program);
    }
  return found;
}

const isExpression = (value: unknown): value is { pattern: string; flags: string } =>
  typeof value === "object" && value !== null && "pattern" in value && "flags" in value;

test("every regular expression takes linear time, except those whose input is bounded", () => {
  // The checker in JavaScript; its other backends start a separate process.
  process.env.RECHECK_BACKEND = "pure";
  const expressions = readExpressions();
  expect(expressions.size).toBeGreaterThan(200);
  const unproven = [...expressions]
    .filter(([key]) => !Object.hasOwn(BOUNDED, key))
    .flatMap(([key, { where, pattern, flags }]) => {
      const { status } = checkSync(withoutUpperBounds(pattern), flags, {
        checker: "automaton",
        timeout: 60_000,
      });
      return status === "safe" ? [] : [`${where}, ${status}: ${key}`];
    });
  expect(unproven).toEqual([]);
  expect(Object.keys(BOUNDED).filter((key) => !expressions.has(key))).toEqual([]);
}, 240_000);
