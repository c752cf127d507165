import type { TemplateVariable } from "#db/schema/templates";
import { AppError } from "#server/platform/errors";
import { inferVariables, variablesMax } from "./render";

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
  const used = inferVariables({ subject, html, text });
  const variables = input.variables ?? used;
  const undeclared = used.filter(({ key }) => !variables.some((variable) => variable.key === key));
  if (undeclared.length > 0)
    throw new AppError(
      "invalid",
      `Invalid \`variables\`: it does not declare ${undeclared
        .slice(0, 10)
        .map(({ key }) => `\`${key}\``)
        .join(", ")}. Declare every placeholder, or leave \`variables\` out.`,
    );
  if (variables.length > variablesMax)
    throw new AppError("invalid", `The template has more than ${variablesMax} variables. Use fewer.`);
  return { subject, html, text, sender, replyTo, variables };
}

/**
 * The variables after a change that does not list them: declared ones are kept if they are still used or have
 * a fallback, new placeholders are added, and unused ones are removed.
 */
export function mergeVariables(
  declared: TemplateVariable[],
  { subject, html, text }: Pick<TemplateContent, "subject" | "html" | "text">,
): TemplateVariable[] {
  const used = inferVariables({ subject, html, text });
  const kept = declared.filter(
    ({ key, fallbackValue }) => fallbackValue !== null || used.some((variable) => variable.key === key),
  );
  return [...kept, ...used.filter(({ key }) => !kept.some((variable) => variable.key === key))];
}
