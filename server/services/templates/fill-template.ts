import type { TemplateValue } from "#db/schema/templates";
import { AppError } from "#server/platform/errors";
import { type Path, parseTags, positionOf, type Tag } from "#server/shared/template-tags";
import { escapeHtml } from "#server/shared/text/escape-html";

/** Maximum length of a filled-in field: several thousand placeholders could each insert a long value. */
const filledCharsMax = 5_000_000;
/** Maximum number of items that the lists of one field repeat blocks for, and of tags that they evaluate. */
const repetitionsMax = 5_000;
const evaluationsMax = 20_000;

type ValidTag = Exclude<Tag, { kind: "fault" }>;
type Opening = Extract<Tag, { kind: "if" | "each" }>;
type Inserted = Extract<Tag, { kind: "variable" | "raw" }>;

/**
 * Reads the tags of a field. Throws 422 with the reason for the first invalid one, and its line and column.
 */
export const parseTemplate = (field: string, source: string): ValidTag[] =>
  parseTags(source).map((tag) => {
    const isLinkInSubject = tag.kind === "unsubscribe" && field === "subject";
    if (tag.kind !== "fault" && !isLinkInSubject) return tag;
    const { line, column } = positionOf(source, tag.from);
    const fault =
      tag.kind === "fault" ? tag.fault : "A subject has no links. Move the unsubscribe tag to the body.";
    throw invalidIn(field, `${fault} (line ${line}, column ${column})`);
  });

const invalid = (message: string) => new AppError("invalid", message);
const invalidIn = (field: string, fault: string) =>
  new AppError("invalid", `\`${field}\`: ${fault}`, { field, plain: fault });

/** The item of a list for which a block is repeated; `name` is its path in the values, such as `items[2]`. */
type Item = { value: TemplateValue | undefined; index: number; name: string; outer: Item | null };

/**
 * What a value that is missing becomes: a send throws an error with its name, a preview shows its tag.
 * `isMissing` of a list returns how often its block is repeated.
 */
export type Missing = { value: (name: string, written: string) => string; list: (name: string) => number };

type Filling = {
  field: string;
  source: string;
  tags: ValidTag[];
  /** For the first tag of a block and its {{else}}: the position of the tag that ends this part. */
  ends: number[];
  values: ReadonlyMap<string, TemplateValue>;
  missing: Missing;
  isHtml: boolean;
  filled: string;
  repetitions: number;
  evaluations: number;
};

/**
 * Inserts values and evaluates blocks. A value is text and is not parsed for tags. In HTML `{{x}}` is escaped
 * and `{{{x}}}` is not. Only own properties of values are read. `field` is named in the errors, such as that
 * of a result that is too long.
 */
export function fillTemplate(
  field: string,
  source: string,
  values: ReadonlyMap<string, TemplateValue>,
  as: "html" | "plain",
  missing: Missing,
): string {
  const tags = withoutOwnLines(source, parseTemplate(field, source));
  const filling: Filling = {
    field,
    source,
    tags,
    ends: partEnds(tags),
    values,
    missing,
    isHtml: as === "html",
    filled: "",
    repetitions: 0,
    evaluations: 0,
  };
  fillRange(filling, 0, tags.length, null);
  append(filling, source.slice(tags.at(-1)?.to ?? 0));
  return filling.filled;
}

/**
 * A line that has only a tag of a block, and white space, is not part of the result: the tag takes the whole
 * line.
 */
function withoutOwnLines(source: string, tags: ValidTag[]): ValidTag[] {
  return tags.map((tag, index) => {
    if (tag.kind === "variable" || tag.kind === "raw" || tag.kind === "unsubscribe") return tag;
    let from = tag.from;
    const first = tags[index - 1]?.to ?? 0;
    while (from > first && isBlank(source[from - 1])) from--;
    if (from > 0 && source[from - 1] !== "\n") return tag;
    let to = tag.to;
    const last = tags[index + 1]?.from ?? source.length;
    while (to < last && isBlank(source[to])) to++;
    if (source.startsWith("\r\n", to)) return { ...tag, from, to: to + 2 };
    if (source[to] === "\n") return { ...tag, from, to: to + 1 };
    return to === source.length ? { ...tag, from, to } : tag;
  });
}

const isBlank = (char: string | undefined): boolean => char === " " || char === "\t";

function partEnds(tags: readonly ValidTag[]): number[] {
  const ends: number[] = [];
  const open: number[] = [];
  for (const [index, { kind }] of tags.entries()) {
    if (kind === "else" || kind === "end") ends[open.pop() ?? 0] = index;
    if (kind === "else" || kind === "if" || kind === "each") open.push(index);
  }
  return ends;
}

/**
 * Fills in the tags from one position to another. The text before each tag begins at the end of the tag
 * before it.
 */
function fillRange(filling: Filling, first: number, end: number, item: Item | null): void {
  const { tags, source } = filling;
  for (let index = first; index < end; index++) {
    const tag = tags[index];
    if (!tag) return;
    append(filling, source.slice(tags[index - 1]?.to ?? 0, tag.from));
    if (++filling.evaluations > evaluationsMax)
      throw tooLarge(filling, `inserts more than ${evaluationsMax.toLocaleString("en")} values`);
    if (tag.kind === "unsubscribe") append(filling, source.slice(tag.from, tag.to));
    else if (tag.kind === "variable" || tag.kind === "raw") append(filling, textOf(filling, tag, item));
    else if (tag.kind === "if" || tag.kind === "each") index = fillBlock(filling, tag, index, item);
  }
}

/** Fills in a block and returns the position of its last tag. */
function fillBlock(filling: Filling, tag: Opening, start: number, item: Item | null): number {
  const middle = filling.ends[start] ?? start;
  const last = filling.tags[middle]?.kind === "else" ? (filling.ends[middle] ?? middle) : middle;
  const fillPart = (from: number, to: number, of: Item | null) => {
    fillRange(filling, from + 1, to, of);
    const [before, after] = [filling.tags[to - 1], filling.tags[to]];
    append(filling, filling.source.slice(before?.to ?? 0, after?.from));
  };
  const { value, name } = lookUp(filling, tag.path, item);
  let isFilled: boolean;
  if (tag.kind === "if") {
    isFilled = isTrue(value);
    if (isFilled) fillPart(start, middle, item);
  } else {
    const list = listOf(filling, tag, value, name);
    isFilled = list.length > 0;
    for (const [index, each] of list.entries()) {
      if (++filling.repetitions > repetitionsMax)
        throw tooLarge(filling, `repeats blocks more than ${repetitionsMax.toLocaleString("en")} times`);
      fillPart(start, middle, { value: each, index, name: `${name}[${index}]`, outer: item });
    }
  }
  if (!isFilled && last !== middle) fillPart(middle, last, item);
  return last;
}

/** False: a missing value, "", 0, false, null and an empty list. */
const isTrue = (value: TemplateValue | undefined): boolean =>
  Array.isArray(value) ? value.length > 0 : Boolean(value);

function listOf(
  { field, source, missing }: Filling,
  tag: Opening,
  value: TemplateValue | undefined,
  name: string,
): readonly (TemplateValue | undefined)[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null)
    return Array.from({ length: missing.list(name) }, () => undefined);
  throw invalidIn(
    field,
    `${source.slice(tag.from, tag.to).trim()} needs a list, and \`${name}\` is ${kindOf(value)}.`,
  );
}

const kindOf = (value: TemplateValue): string =>
  Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;

function textOf(filling: Filling, tag: Inserted, item: Item | null): string {
  const { field, source, missing, isHtml } = filling;
  const { value, name } = lookUp(filling, tag.path, item);
  if (typeof value === "object" && value !== null)
    throw invalidIn(
      field,
      `${source.slice(tag.from, tag.to)} cannot insert \`${name}\`, which is ${kindOf(value)}. Insert its ${Array.isArray(value) ? "items with {{#each}}" : "fields"}.`,
    );
  const text =
    value === undefined || value === null ? missing.value(name, `{{${tag.path.join(".")}}}`) : String(value);
  return isHtml && tag.kind === "variable" ? escapeHtml(text) : text;
}

/**
 * The value of a path, and its name in the values. The first name is a field of the item, of the items around
 * it, or a variable, whichever exists first; the others are fields of that value. Undefined if there is none.
 */
function lookUp(
  { values }: Filling,
  [first, ...fields]: Path,
  item: Item | null,
): { value: TemplateValue | undefined; name: string } {
  if (first === "@index" && item) return { value: item.index, name: "@index" };
  let value: TemplateValue | undefined;
  let name = item ? `${item.name}.${first}` : first;
  if (first === "this" && item) ({ value, name } = item);
  else {
    let owner = item;
    while (owner && fieldOf(owner.value, first) === undefined) owner = owner.outer;
    value = owner ? fieldOf(owner.value, first) : values.get(first);
    if (owner) name = `${owner.name}.${first}`;
    else if (value !== undefined) name = first;
  }
  for (const field of fields) {
    value = fieldOf(value, field);
    name += `.${field}`;
  }
  return { value, name };
}

const INDEX = /^\d{1,6}$/;

/**
 * An own field of an object or an item of a list; undefined for everything else, such as `length` and
 * `constructor`.
 */
function fieldOf(value: TemplateValue | undefined, name: string): TemplateValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return INDEX.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, TemplateValue>)[name] : undefined;
}

function append(filling: Filling, text: string): void {
  filling.filled += text;
  if (filling.filled.length > filledCharsMax)
    throw invalid(
      `The filled-in \`${filling.field}\` is longer than ${filledCharsMax.toLocaleString("en")} characters. Use shorter values.`,
    );
}

const tooLarge = ({ field }: Filling, what: string) =>
  invalid(`The filled-in \`${field}\` ${what}. Use shorter lists.`);
