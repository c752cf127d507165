import { AppError } from "#server/platform/errors";

/**
 * Limits on the structure of a body. A string counts as one value; so does a file sent as an array of bytes.
 */
export const TREE_LIMITS = {
  depth: 32,
  fieldsPerObject: 1_000,
  itemsPerArray: 1_000,
  values: 50_000,
} as const;

/**
 * Fields that may contain the bytes of a file as an array of numbers. Such an array is not checked per item.
 */
const FILE_CONTENT = /(^|\.)content(\.data)?$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

type Node = { value: object; field: string; depth: number };

/**
 * Rejects a parsed body that exceeds `TREE_LIMITS` or contains a number out of range, the name `__proto__`,
 * or (only if `mayHoldEscapes`) NUL or a lone surrogate. Iterative, because deep nesting would exhaust the
 * stack. Linear in the size of the body.
 */
export function checkTree(root: unknown, mayHoldEscapes: boolean): void {
  const pending: Node[] = [];
  let values = 0;
  const check = (value: unknown, field: string, depth: number) => {
    values++;
    if (typeof value === "string") {
      if (mayHoldEscapes) checkText(value, () => labelOf(field));
    } else if (typeof value === "number") {
      if (!Number.isFinite(value)) throw invalid(`${labelOf(field)} is out of range. Send a smaller number.`);
    } else if (typeof value === "object" && value !== null) {
      if (depth > TREE_LIMITS.depth)
        throw invalid(`The body is nested deeper than ${TREE_LIMITS.depth} levels. Reduce the nesting.`);
      pending.push({ value, field, depth });
    }
  };

  check(root, "", 1);
  for (let node = pending.pop(); node; node = pending.pop()) {
    const { value, field, depth } = node;
    if (Array.isArray(value)) {
      if (FILE_CONTENT.test(field) && isNumbers(value)) continue;
      if (value.length > TREE_LIMITS.itemsPerArray)
        throw invalid(`${labelOf(field)} has more than ${TREE_LIMITS.itemsPerArray} items. Send fewer.`);
      for (const [index, item] of value.entries()) check(item, `${field}[${index}]`, depth + 1);
    } else {
      const entries = Object.entries(value);
      if (entries.length > TREE_LIMITS.fieldsPerObject)
        throw invalid(`${labelOf(field)} has more than ${TREE_LIMITS.fieldsPerObject} fields. Send fewer.`);
      for (const [key, item] of entries) {
        if (mayHoldEscapes)
          checkText(key, () => (field === "" ? "A field's name" : `A name in ${labelOf(field)}`));
        const name = field === "" ? key : `${field}.${key}`;
        if (key === "__proto__") throw invalid(`Unknown field \`${name}\`.`);
        check(item, name, depth + 1);
      }
    }
    if (values > TREE_LIMITS.values) throw tooMany();
  }
}

/** The brackets and strings that a body within the limits can have. A shorter text cannot exceed it. */
export const tokensMax = TREE_LIMITS.values * 3;

/**
 * Rejects a text with more than `tokensMax` brackets and strings. Call it before the text is parsed: millions
 * of small objects take far more memory than their text.
 */
export function rejectOversizedTree(text: string): void {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        tokens++;
        break;
      case "[":
      case "{":
        tokens++;
        break;
    }
    if (tokens > tokensMax) throw tooMany();
  }
}

/**
 * The index of the quote that closes the string starting at `start`; the length of the text if there is none.
 */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/**
 * A file sent as an array of bytes counts as one value: building a name for each of millions of items is too
 * expensive.
 */
const isNumbers = (items: unknown[]): boolean =>
  typeof items[0] === "number" && items.every((item) => typeof item === "number");

function checkText(text: string, what: () => string): void {
  if (text.includes("\0")) throw invalid(`${what()} contains a NUL character. Remove it.`);
  if (LONE_SURROGATE.test(text)) throw invalid(`${what()} contains half of a surrogate pair. Remove it.`);
}

const labelOf = (field: string): string => (field === "" ? "The body" : `\`${field.slice(0, 120)}\``);
const invalid = (message: string) => new AppError("invalid", message);
const tooMany = () => invalid(`The body has more than ${TREE_LIMITS.values} fields and items. Send fewer.`);
