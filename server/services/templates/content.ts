import type { TemplateVariable } from "#db/schema/templates";
import { AppError } from "#server/platform/errors";
import { mergeVariables } from "#server/shared/template-tags";
import { listKeys, variablesMax } from "./render";

/** The content of a version. If `variables` is null, they are inferred from the placeholders. */
export type TemplateContent = {
  subject: string | null;
  html: string;
  text: string | null;
  sender: string | null;
  replyTo: string[] | null;
  variables: TemplateVariable[] | null;
};

/**
 * Validates content and resolves its variables. Throws 422 if a placeholder is not declared or there are too
 * many variables.
 */
export function checkContent(input: TemplateContent) {
  const { subject, html, text, sender, replyTo } = input;
  const used = listKeys({ subject, html, text });
  const variables = input.variables ?? used.map(declare);
  const undeclared = used.filter((key) => !variables.some((variable) => variable.key === key));
  if (undeclared.length > 0)
    throw new AppError(
      "invalid",
      `Invalid \`variables\`: it does not declare ${undeclared
        .slice(0, 10)
        .map((key) => `\`${key}\``)
        .join(", ")}. Declare every placeholder, or leave \`variables\` out.`,
    );
  if (variables.length > variablesMax)
    throw new AppError("invalid", `The template has more than ${variablesMax} variables. Use fewer.`);
  return { subject, html, text, sender, replyTo, variables };
}

const declare = (key: string): TemplateVariable => ({ key, type: "string", fallbackValue: null });

/** The variables after a change that does not list them. */
export const updateVariables = (
  declared: TemplateVariable[],
  { subject, html, text }: Pick<TemplateContent, "subject" | "html" | "text">,
): TemplateVariable[] =>
  mergeVariables(declared, listKeys({ subject, html, text }), {
    hasFallback: ({ fallbackValue }) => fallbackValue !== null,
    declare,
  });
