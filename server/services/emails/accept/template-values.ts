import { z } from "zod";
import type { TemplateValue } from "#db/schema/templates";

const stringCharsMax = 2_000;
/** Limits of the variables of one email together. */
const entriesMax = 10_000;
const bytesMax = 200_000;
/** Lists and objects inside one another. */
const levelsMax = 5;

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

/** The first fault of a value, with its path. Lists and objects may also contain null. */
function faultOf(value: unknown, path: (string | number)[] = []): Fault | null {
  if (value === null && path.length > 0) return null;
  if (typeof value !== "object" || value === null) {
    const message = faultOfScalar(value);
    return message === null ? null : { path, message };
  }
  if (path.length >= levelsMax)
    return { path, message: `At most ${levelsMax} lists and objects inside one another. Use fewer.` };
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  for (const [key, item] of entries) {
    const fault = faultOf(item, [...path, key]);
    if (fault) return fault;
  }
  return null;
}

/** A value of a template: text, a number, true or false; or a list or an object of them, up to 5 levels. */
export const VariableValue = z
  .unknown()
  .superRefine((value, refine) => {
    const fault = faultOf(value);
    if (fault) refine.addIssue({ code: "custom", ...fault });
  })
  .transform((value) => value as Exclude<TemplateValue, null>)
  .meta({
    type: ["string", "number", "boolean", "array", "object"],
    description: `A string of up to ${stringCharsMax.toLocaleString("en")} characters, a number, true or false; or a list or an object of such values and null, up to ${levelsMax} inside one another.`,
  });

/** Why values are too large together, or null. */
function faultOfSize(values: Record<string, unknown>): string | null {
  if (Buffer.byteLength(JSON.stringify(values)) > bytesMax)
    return `At most ${bytesMax.toLocaleString("en")} bytes as JSON. Shorten the values.`;
  let entries = 0;
  const pending: unknown[] = [values];
  for (let value = pending.pop(); value !== undefined; value = pending.pop())
    for (const item of Object.values(value as object)) {
      entries++;
      if (typeof item === "object" && item !== null) pending.push(item);
    }
  return entries > entriesMax
    ? `At most ${entriesMax.toLocaleString("en")} values, with those in lists and objects. Send fewer.`
    : null;
}

/** Values for placeholders, keyed by name. */
export const TemplateValues = z
  .record(z.string(), VariableValue, 'Must be an object of names and values: { "NAME": "Ann" }.')
  .superRefine((values, refine) => {
    const fault = faultOfSize(values);
    if (fault) refine.addIssue(fault);
  })
  .describe(
    `Values by variable name. Together at most ${entriesMax.toLocaleString("en")} values and ${bytesMax.toLocaleString("en")} bytes as JSON.`,
  );
