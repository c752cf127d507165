import type { TemplateVariable } from "#db/schema/templates";
import { AppError } from "#server/errors";
import { inferVariables, variablesMax } from "./render";

/** What a version says. `variables` null: taken from the placeholders. */
export type TemplateContent = {
  subject: string | null;
  html: string;
  text: string | null;
  sender: string | null;
  replyTo: string[] | null;
  variables: TemplateVariable[] | null;
};

/** Content with its variables settled: each placeholder is declared, each declared name once. Refuses with 422 what is not. */
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
 * The variables after a change that names none: what is still used or has a fallback stays as it was declared, what is
 * new among the placeholders joins, and what no placeholder asks for any more is asked of nobody.
 */
export function settleVariables(
  declared: TemplateVariable[],
  { subject, html, text }: Pick<TemplateContent, "subject" | "html" | "text">,
): TemplateVariable[] {
  const used = inferVariables({ subject, html, text });
  const kept = declared.filter(
    ({ key, fallbackValue }) => fallbackValue !== null || used.some((variable) => variable.key === key),
  );
  return [...kept, ...used.filter(({ key }) => !kept.some((variable) => variable.key === key))];
}
