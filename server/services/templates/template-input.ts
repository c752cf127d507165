import { z } from "zod";
import type { TemplateVariable } from "#db/schema/templates";
import { isId } from "#server/platform/ids";
import { faultOfKey } from "#server/shared/template-tags";
import { VARIABLE_TYPES } from "#server/shared/template-variables";
import { isOfType, variablesMax } from "./render";
import { faultOfSize, VariableValue, valueRule } from "./template-values";

/** Maximum length of a template name, in characters. */
export const nameCharsMax = 200;
const sourceCharsMax = 1_000_000;

/** The display name of a template; it need not be unique. */
export const TemplateName = z
  .string("Must be a string.")
  .min(1, "Enter a name for the template.")
  .max(nameCharsMax, `At most ${nameCharsMax} characters. Shorten it.`)
  .regex(/^\P{Cc}*$/u, "Must be one line without control characters.");

/** A name that API clients use instead of the id, so it must not look like an id. */
export const TemplateAlias = z
  .string("Must be a string.")
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "Use 1 to 64 lowercase letters, digits, hyphens or underscores, beginning with a letter or digit.",
  )
  .refine((alias) => !isId(alias), "Must not have the form of an id. Choose a word such as welcome-mail.");

/** HTML or text with placeholders. */
export const TemplateSource = z
  .string("Must be a string.")
  .max(sourceCharsMax, `At most ${sourceCharsMax.toLocaleString("en")} characters. Shorten it.`);

const Key = z.string("Must be a string.").superRefine((key, refine) => {
  const fault = faultOfKey(key);
  if (fault) refine.addIssue(fault);
});

const Variable = z
  .strictObject(
    {
      key: Key.describe("The name of the placeholder."),
      type: z
        .enum(VARIABLE_TYPES, `Must be one of ${VARIABLE_TYPES.join(", ")}: other types are not supported.`)
        .describe("The type of its values."),
      fallback_value: VariableValue.nullish().describe(
        `The value in emails that have none for it. ${valueRule}`,
      ),
      fallbackValue: VariableValue.nullish().describe(`The same as \`fallback_value\`. ${valueRule}`),
    },
    'Declare each variable as { "key": …, "type": …, "fallback_value": … }.',
  )
  .transform(
    ({ key, type, fallback_value, fallbackValue }): TemplateVariable => ({
      key,
      type,
      fallbackValue: fallback_value ?? fallbackValue ?? null,
    }),
  )
  .superRefine(({ type, fallbackValue }, refine) => {
    const isFitting = type === "string" ? typeof fallbackValue === "string" : isOfType(fallbackValue, type);
    if (fallbackValue !== null && !isFitting)
      refine.addIssue({
        code: "custom",
        path: ["fallback_value"],
        message: `Must be ${type === "object" ? "an" : "a"} ${type}, as \`type\` says.`,
      });
  });

/** The declared variables, each name once. Fallback values have the limits of the values of an email. */
export const TemplateVariables = z
  .array(Variable, 'Must be an array of { "key": …, "type": …, "fallback_value": … }.')
  .max(variablesMax, `At most ${variablesMax} variables. Remove some.`)
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
    const fault = faultOfSize(variables.map(({ fallbackValue }) => fallbackValue));
    if (fault) refine.addIssue(`The fallback values are too large together. ${fault}`);
  });
