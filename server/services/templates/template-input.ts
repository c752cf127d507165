import { z } from "zod";
import type { TemplateVariable } from "#db/schema/templates";
import { isId } from "#server/ids";
import { VariableValue } from "../emails/message-input";
import { faultOfKey, variablesMax } from "./render";

/** Longest name of a template. */
export const nameCharsMax = 200;
const sourceCharsMax = 1_000_000;

/** What people call a template; several may bear the same name. */
export const TemplateName = z
  .string("Must be a string.")
  .min(1, "Give the template a name.")
  .max(nameCharsMax, `At most ${nameCharsMax} characters. Shorten it.`)
  .regex(/^\P{Cc}*$/u, "Must be one line without control characters.");

/** A name that programs use in place of the id, so it must never look like one. */
export const TemplateAlias = z
  .string("Must be a string.")
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "Use 1 to 64 lower-case letters, digits, hyphens or underscores, beginning with a letter or digit.",
  )
  .refine((alias) => !isId(alias), "Must not have the form of an id. Choose a word such as welcome-mail.");

/** HTML or text with placeholders. */
export const TemplateSource = z
  .string("Must be a string.")
  .max(sourceCharsMax, `At most ${sourceCharsMax.toLocaleString("en")} characters. Shorten it.`);

const Key = z.string("Must be a string.").superRefine((key, refine) => {
  const fault = faultOfKey(key);
  if (fault) refine.addIssue({ code: "custom", message: fault });
});

const Variable = z
  .strictObject(
    {
      key: Key,
      type: z.enum(["string", "number"], 'Must be "string" or "number": other types are not offered.'),
      fallback_value: VariableValue.nullish(),
      fallbackValue: VariableValue.nullish(),
    },
    'Give each variable as { "key": …, "type": …, "fallback_value": … }.',
  )
  .transform(
    ({ key, type, fallback_value, fallbackValue }): TemplateVariable => ({
      key,
      type,
      fallbackValue: fallback_value ?? fallbackValue ?? null,
    }),
  )
  .superRefine(({ type, fallbackValue }, refine) => {
    if (fallbackValue !== null && typeof fallbackValue !== type)
      refine.addIssue({
        code: "custom",
        path: ["fallback_value"],
        message: `Must be a ${type}, as \`type\` says.`,
      });
  });

/** The declared placeholders, each once. */
export const TemplateVariables = z
  .array(Variable, 'Must be an array of { "key": …, "type": …, "fallback_value": … }.')
  .max(variablesMax, `At most ${variablesMax} variables. Leave some out.`)
  .superRefine((variables, refine) => {
    const seen = new Set<string>();
    for (const [index, { key }] of variables.entries()) {
      if (seen.has(key))
        refine.addIssue({
          code: "custom",
          path: [index, "key"],
          message: `"${key}" is declared twice. Declare it once.`,
        });
      seen.add(key);
    }
  });
