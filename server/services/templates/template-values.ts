import { z } from "zod";
import type { TemplateValue } from "#db/schema/templates";

const stringCharsMax = 2_000;
/** Items of a list and fields of an object. A body of the API has the same limits on its structure. */
const itemsMax = 1_000;
/** Limits of the variables of one email together. */
const entriesMax = 10_000;
const bytesMax = 200_000;
/** Lists and objects inside one another. */
const levelsMax = 5;

const inWords = (count: number): string => count.toLocaleString("en");

/** What a value may be, for the documentation. */
export const valueRule = `A string of up to ${inWords(stringCharsMax)} characters, a number, true or false; or a list of up to ${inWords(itemsMax)} items or an object of up to ${inWords(itemsMax)} fields, which are such values and null, up to ${levelsMax} inside one another. Null is no value.`;

/** How large values may be together, for the documentation. */
export const sizeRule = `Together at most ${inWords(entriesMax)} values and ${inWords(bytesMax)} bytes as JSON.`;

const TYPES = "Must be a string or a number, or true, false, a list or an object.";

/** Why a string, number or boolean is not allowed, or null. Numbers must survive JSON unchanged. */
function faultOfScalar(value: unknown): string | null {
  if (typeof value === "string")
    return value.length > stringCharsMax ? `At most ${stringCharsMax} characters. Shorten it.` : null;
  if (typeof value === "number")
    return Math.abs(value) > Number.MAX_SAFE_INTEGER
      ? "A number of this size loses precision. Send it as a string."
      : null;
  return typeof value === "boolean" ? null : TYPES;
}

type Fault = { path: (string | number)[]; message: string };

/** The first fault of a value, with its path. */
function faultOf(value: unknown, path: (string | number)[] = []): Fault | null {
  if (value === null) return null;
  if (typeof value !== "object") {
    const message = faultOfScalar(value);
    return message === null ? null : { path, message };
  }
  if (path.length >= levelsMax)
    return { path, message: `At most ${levelsMax} lists and objects inside one another. Use fewer.` };
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  if (entries.length > itemsMax)
    return {
      path,
      message: `At most ${inWords(itemsMax)} ${Array.isArray(value) ? "items" : "fields"}. Send fewer.`,
    };
  for (const [key, item] of entries) {
    const fault = faultOf(item, [...path, key]);
    if (fault) return fault;
  }
  return null;
}

/**
 * A value of a template: text, a number, true or false; or a list or an object of them, up to 5 levels. Null
 * is no value: the fallback applies.
 */
export const VariableValue = z
  .unknown()
  .superRefine((value, refine) => {
    const fault = faultOf(value);
    if (fault) refine.addIssue({ code: "custom", ...fault });
  })
  .transform((value) => value as TemplateValue)
  .meta({
    type: ["string", "number", "boolean", "array", "object", "null"],
    description: valueRule,
  });

/**
 * Why values are too large together, or null; also null for values inside too many others, which have a fault
 * of their own and which JSON.stringify cannot always write.
 */
export function faultOfSize(values: object): string | null {
  let entries = 0;
  let level: object[] = [values];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levelsMax) return null;
    const items = level.flatMap((value): unknown[] => Object.values(value));
    entries += items.length;
    level = items.filter((item) => typeof item === "object" && item !== null);
  }
  if (entries > entriesMax)
    return `At most ${inWords(entriesMax)} values, with those in lists and objects. Send fewer.`;
  return Buffer.byteLength(JSON.stringify(values)) > bytesMax
    ? `At most ${inWords(bytesMax)} bytes as JSON. Shorten the values.`
    : null;
}

/** Values for placeholders, keyed by name. */
export const TemplateValues = z
  .record(z.string(), VariableValue, 'Must be an object of names and values: { "NAME": "Ann" }.')
  .superRefine((values, refine) => {
    const fault = faultOfSize(values);
    if (fault) refine.addIssue(fault);
  })
  .describe(`Values by variable name. ${sizeRule}`);
