import { readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "vite";

/** Something that a person reads: `kind` says where, `file` and `line` say the place. */
export type Passage = {
  kind: "comment" | "text" | "identifier" | "test name" | "document";
  file: string;
  line: number;
  text: string;
};

/** Strings shorter than a phrase are keys, classes and paths; what has a blank may be shown to a person. */
const isPhrase = (text: string): boolean =>
  /[a-z]\s+[a-z]/i.test(text) && !/^[\s\S]*\bselect\b[\s\S]*\bfrom\b/i.test(text);

/** Everything in one file that a person reads, in no particular order. */
export function readPassages(file: string, source: string): Passage[] {
  if (!/\.(ts|tsx|mts|mjs)$/.test(file))
    return source.split("\n").map((text, index) => ({ kind: "document", file, line: index + 1, text }));
  const { program, comments, errors } = parseSync(path.basename(file), source);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const lineStarts = [0];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  const lineAt = (offset: number): number => {
    let low = 0;
    for (let high = lineStarts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
  const isTest = file.startsWith("tests/");
  const passages: Passage[] = [];
  const note = (kind: Passage["kind"], start: number, text: string) =>
    passages.push({ kind, file, line: lineAt(start), text });
  const testNames = new Set<number>();
  const identifiers = new Map<string, number>();
  const declare = (name: string, start: number) => {
    if (!identifiers.has(name)) identifiers.set(name, start);
  };

  // A sentence may go on over several `//` lines, so neighbours are read as one.
  for (const { value, start } of comments) note("comment", start, value.replace(/\n\s*\*?\s*/g, " ").trim());
  new Visitor({
    CallExpression(node) {
      if (!isTest) return;
      const callee = source.slice(node.callee.start, node.callee.end);
      const [name] = node.arguments;
      if (!/^(test|describe|it)\b/.test(callee) || !name) return;
      if (name.type === "Literal" && typeof name.value === "string") {
        testNames.add(name.start);
        note("test name", name.start, name.value);
      } else if (name.type === "TemplateLiteral") {
        for (const quasi of name.quasis) testNames.add(quasi.start);
        note("test name", name.start, name.quasis.map(({ value }) => value.raw).join(" … "));
      }
    },
    Identifier: (node) => declare(node.name, node.start),
    Property(node) {
      if (node.key.type === "Identifier") declare(node.key.name, node.key.start);
    },
  }).visit(program);
  if (!isTest)
    new Visitor({
      Literal(node) {
        if (typeof node.value === "string" && isPhrase(node.value)) note("text", node.start, node.value);
      },
      TemplateElement(node) {
        if (isPhrase(node.value.raw)) note("text", node.start, node.value.raw);
      },
      JSXText(node) {
        const text = node.value.replace(/\s+/g, " ").trim();
        if (text !== "") note("text", node.start, text);
      },
    }).visit(program);
  for (const [name, start] of identifiers) note("identifier", start, splitWords(name));
  return passages;
}

/** `clearTheWay` becomes `clear the way`, `SMTP_URL` becomes `smtp url`. */
export const splitWords = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replaceAll("_", " ")
    .trim()
    .toLowerCase();

/** Reads a file of the project. */
export const readFilePassages = (root: string, file: string): Passage[] =>
  readPassages(file, readFileSync(path.join(root, file), "utf8"));
