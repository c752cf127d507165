import { parseTags, type Tag } from "./template-tags";

export const VARIABLE_TYPES = ["string", "number", "boolean", "list", "object"] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

/**
 * How a template uses a variable outside lists: inserts it, repeats a block for it, reads fields of it, or
 * checks it.
 */
type Use = "value" | "each" | "fields" | "if";

/**
 * The variables of these fields with their uses, in order of first use. Names inside lists may be fields of
 * items.
 */
export function usesIn(...sources: (string | null)[]): Map<string, Set<Use>> {
  const uses = new Map<string, Set<Use>>();
  for (const tag of sources.flatMap((source) => parseTags(source ?? ""))) {
    const key = variableOf(tag);
    if (key === null || !("path" in tag)) continue;
    const of = uses.get(key) ?? new Set();
    uses.set(key, of);
    if (tag.kind === "if") of.add("if");
    if (tag.path.length > 1) of.add("fields");
    else if (tag.kind !== "if") of.add(tag.kind === "each" ? "each" : "value");
  }
  return uses;
}

/** The variable that a tag certainly uses: null in a list, where the name may be that of a field. */
export const variableOf = (tag: Tag): string | null => ("path" in tag && !tag.isInList ? tag.path[0] : null);

/** The variable names in these fields, without duplicates, in order of first use. */
export const keysIn = (...sources: (string | null)[]): string[] => [...usesIn(...sources).keys()];

/** Names inside lists: each is a field of the items, or a variable that need not be declared. */
export const namesInLists = (...sources: (string | null)[]): Set<string> =>
  new Set(
    sources.flatMap((source) =>
      parseTags(source ?? "").flatMap((tag) => ("path" in tag && tag.isInList ? tag.path[0] : [])),
    ),
  );

/** Variables that a send may omit, because `{{#if}}` checks them. */
export const optionalKeysIn = (...sources: (string | null)[]): Set<string> =>
  new Set([...usesIn(...sources)].flatMap(([key, uses]) => (uses.has("if") ? key : [])));

/**
 * The values that the HTML inserts as raw HTML. In the subject and the text part raw tags make no difference.
 */
export const rawKeysIn = (html: string): Set<string> =>
  new Set(parseTags(html).flatMap((tag) => (tag.kind === "raw" ? [tag.path.join(".")] : [])));

/** The type of a variable by its uses. */
export const typeOfUses = (uses: ReadonlySet<Use> | undefined): VariableType =>
  uses?.has("each") ? "list" : uses?.has("fields") ? "object" : "string";

/** Why a variable of this type cannot be used as the template does, or null. */
export function faultOfType(key: string, type: VariableType, uses: ReadonlySet<Use>): string | null {
  const isText = type === "string" || type === "number" || type === "boolean";
  if (uses.has("each") && type !== "list")
    return `{{#each ${key}}} needs a list, and \`${key}\` is declared as ${type}.`;
  if (uses.has("fields") && isText)
    return `The template reads fields of \`${key}\`, which is declared as ${type}. Declare it as object.`;
  if (uses.has("value") && !isText)
    return `{{${key}}} cannot insert \`${key}\`, which is declared as ${type}. ${type === "list" ? `Use {{#each ${key}}}.` : `Insert a field: {{${key}.name}}.`}`;
  return null;
}

type Declared = { key: string; type: VariableType };

/**
 * The variables after a change of the content that does not list them: declared ones are kept if they are
 * used or have a fallback, and new placeholders are declared. One without a fallback gets another type if its
 * uses need that.
 */
export function mergeVariables<Variable extends Declared>(
  declared: readonly Variable[],
  sources: readonly (string | null)[],
  {
    hasFallback,
    declare,
  }: {
    hasFallback: (variable: Variable) => boolean;
    declare: (key: string, type: VariableType) => Variable;
  },
): Variable[] {
  const uses = usesIn(...sources);
  const inLists = namesInLists(...sources);
  const kept = declared
    .filter((variable) => hasFallback(variable) || uses.has(variable.key) || inLists.has(variable.key))
    .map((variable) => {
      const used = uses.get(variable.key);
      return used && !hasFallback(variable) && faultOfType(variable.key, variable.type, used) !== null
        ? { ...variable, type: typeOfUses(used) }
        : variable;
    });
  const added = [...uses].filter(([key]) => !kept.some((variable) => variable.key === key));
  return [...kept, ...added.map(([key, used]) => declare(key, typeOfUses(used)))];
}
