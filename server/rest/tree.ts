import { AppError } from "#server/errors";

/** How large the structure of a body may be. Texts count once, however long; so do the byte values of a file. */
export const TREE_LIMITS = {
  depth: 32,
  fieldsPerObject: 1_000,
  itemsPerArray: 1_000,
  values: 50_000,
} as const;

/** Where a file's bytes may stand, as some clients write them. Nobody reads such a list item by item. */
const FILE_CONTENT = /(^|\.)content(\.data)?$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

type Node = { value: object; field: string; depth: number };

/**
 * Refuses a parsed body whose structure is beyond `TREE_LIMITS`, or which holds what no field may: numbers out of range,
 * `__proto__`, and, where escapes may have brought them in, NUL and lone surrogates. Never recursive, so that nesting
 * cannot exhaust the stack; linear in what the limits admit.
 */
export function checkTree(root: unknown, mayHoldEscapes: boolean): void {
  const waiting: Node[] = [];
  let values = 0;
  const look = (value: unknown, field: string, depth: number) => {
    values++;
    if (typeof value === "string") {
      if (mayHoldEscapes) checkText(value, () => shown(field));
    } else if (typeof value === "number") {
      if (!Number.isFinite(value))
        throw invalid(`${shown(field)} is a number out of range. Send a smaller one.`);
    } else if (typeof value === "object" && value !== null) {
      if (depth > TREE_LIMITS.depth)
        throw invalid(`The body is nested deeper than ${TREE_LIMITS.depth} levels. Send a flatter one.`);
      waiting.push({ value, field, depth });
    }
  };

  look(root, "", 1);
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const { value, field, depth } = node;
    if (Array.isArray(value)) {
      if (FILE_CONTENT.test(field) && isNumbers(value)) continue;
      if (value.length > TREE_LIMITS.itemsPerArray)
        throw invalid(`${shown(field)} has more than ${TREE_LIMITS.itemsPerArray} items. Send fewer.`);
      for (const [index, item] of value.entries()) look(item, `${field}[${index}]`, depth + 1);
    } else {
      const entries = Object.entries(value);
      if (entries.length > TREE_LIMITS.fieldsPerObject)
        throw invalid(`${shown(field)} has more than ${TREE_LIMITS.fieldsPerObject} fields. Send fewer.`);
      for (const [key, item] of entries) {
        if (mayHoldEscapes)
          checkText(key, () => (field === "" ? "A field's name" : `A name in ${shown(field)}`));
        const name = field === "" ? key : `${field}.${key}`;
        if (key === "__proto__") throw invalid(`Unknown field \`${name}\`.`);
        look(item, name, depth + 1);
      }
    }
    if (values > TREE_LIMITS.values) throw tooMany();
  }
}

/**
 * Refuses a text with more brackets, names and strings than any body within the limits can have, before it is parsed:
 * millions of small objects take more memory than the bytes that describe them. Short texts cannot hold that many.
 */
export function refuseCrowd(text: string): void {
  const marksMax = TREE_LIMITS.values * 3;
  if (text.length <= marksMax) return;
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        marks++;
        break;
      case "[":
      case "{":
        marks++;
        break;
    }
    if (marks > marksMax) throw tooMany();
  }
}

/** Where the quote stands that ends the string begun at `start`; the text's end where none does. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/** A file as a list of byte values counts as one value: naming each of its millions would be the attack. */
const isNumbers = (items: unknown[]): boolean =>
  typeof items[0] === "number" && items.every((item) => typeof item === "number");

function checkText(text: string, what: () => string): void {
  if (text.includes("\0")) throw invalid(`${what()} contains a NUL character. Remove it.`);
  if (LONE_SURROGATE.test(text)) throw invalid(`${what()} contains half of a surrogate pair. Remove it.`);
}

const shown = (field: string): string => (field === "" ? "The body" : `\`${field.slice(0, 120)}\``);
const invalid = (message: string) => new AppError("invalid", message);
const tooMany = () => invalid(`The body has more than ${TREE_LIMITS.values} fields and items. Send fewer.`);
