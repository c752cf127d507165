import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Passage, readFilePassages, readPassages, splitWords } from "./language/passages";
import type { Pattern } from "./language/pattern";
import { STYLE } from "./language/style";
import { TERMS } from "./language/terms";

const root = fileURLToPath(new URL("..", import.meta.url));
const PATTERNS = [...TERMS, ...STYLE];
const READ = /\.(ts|tsx|mts|mjs|md|sql|example)$/;
/**
 * These list the rejected words, are generated from names of the source, or quote bounces, replies and
 * newsletters of others.
 */
const NOT_READ = [
  ".github/CONTRIBUTING.md",
  ".github/entry-points.md",
  "tests/language/",
  "tests/language.test.ts",
  "tests/mail/bounce/messages.ts",
  "tests/mail/newsletters.ts",
];

const below = (folder: string): string[] =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => path.posix.join(folder, ...name.split(path.sep)))
    .filter((file) => !file.includes("/.artifacts/"));

const files = ["app", "server", "db", "tests", ".github"]
  .flatMap(below)
  .concat("README.md", ".env.example", "proxy.ts", "instrumentation.ts", "next.config.ts")
  .filter((file) => READ.test(file) && !NOT_READ.some((path) => file.startsWith(path)));
const passages = files.flatMap((file) => readFilePassages(root, file));
const keyOf = ({ kind, text }: Passage): string => `${kind} ${text}`;
// Most identifiers are in many files; each is searched once.
const distinct = [...new Map(passages.map((each) => [keyOf(each), each])).values()];

const findIn = ({ kinds, pattern }: Pattern, among: readonly Passage[]): Passage[] =>
  among.filter(({ kind, text }) => kinds.includes(kind) && pattern.test(text));

describe("the project uses standard technical terms", () => {
  test.each(PATTERNS.map((each) => [`${each.concept}: ${each.instead}`, each] as const))("%s", (_, each) => {
    const found = new Set(findIn(each, distinct).map(keyOf));
    const places = found.size === 0 ? [] : passages.filter((passage) => found.has(keyOf(passage)));
    expect(places.map(({ file, line, text }) => `${file}:${line} ${text.slice(0, 120)}`)).toEqual([]);
  });
});

describe("each pattern finds its example in every kind of text that it covers", () => {
  const place = (kind: Passage["kind"], text: string): Passage[] => {
    const camel = text.replace(/ +(\w)/g, (_, letter: string) => letter.toUpperCase());
    switch (kind) {
      case "comment":
        return readPassages("server/a.ts", `// ${text}\nexport const a = 1;`);
      case "text":
        return readPassages("app/a.tsx", `export const A = () => <p>${text.replace(/[{}<>]/g, "")}</p>;`);
      case "test name":
        return readPassages("tests/a.test.ts", `test(${JSON.stringify(text)}, () => {});`);
      case "document":
        return readPassages("README.md", text);
      case "identifier":
        return readPassages("server/a.ts", `export const ${camel} = 1;`);
    }
  };
  const cases = PATTERNS.flatMap((each) => each.kinds.map((kind) => [each.planted, kind, each] as const));
  test.each(cases)("%s (%s)", (planted, kind, each) => {
    const spoken = kind === "identifier" ? splitWords(planted).replace(/[^a-z ]/g, "") : planted;
    expect(findIn(each, place(kind, spoken))).not.toEqual([]);
  });
});

test("identifiers are split into words", () => {
  expect(splitWords("clearTheWay")).toBe("clear the way");
  expect(splitWords("SMTP_URL")).toBe("smtp url");
  expect(splitWords("readDNSPanel")).toBe("read dns panel");
});
