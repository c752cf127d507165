import type { TemplateVariable } from "#db/schema/templates";
import { AppError, invalidField } from "#server/platform/errors";
import {
  faultOfType,
  mergeVariables,
  typeOfUses,
  usesIn,
  type VariableType,
} from "#server/shared/template-variables";
import { insertUnsubscribeLink } from "#server/shared/text/unsubscribe-tags";
import type { TemplateVersion } from "#server/shared/wire/template";
import { parseTemplate } from "./fill-template";
import { variablesMax } from "./render";

/** The content of a version. If `variables` is null, they are inferred from the placeholders. */
export type TemplateContent = Pick<TemplateVersion, "subject" | "html" | "text" | "sender" | "replyTo"> & {
  variables: TemplateVariable[] | null;
};

/**
 * Validates content and resolves its variables. Throws 422 if a tag is invalid, a placeholder is not
 * declared, the type of a variable does not fit its use, or there are too many variables.
 */
export function checkContent(input: TemplateContent) {
  const { subject, html, text, sender, replyTo } = input;
  for (const [field, source] of Object.entries({ subject, html, text })) parseTemplate(field, source ?? "");
  const uses = usesIn(subject, html, text);
  const used = [...uses.keys()];
  const variables = input.variables ?? [...uses].map(([key, of]) => declare(key, typeOfUses(of)));
  const undeclared = used.filter((key) => !variables.some((variable) => variable.key === key));
  if (undeclared.length > 0) throw undeclaredVariables(undeclared.slice(0, 10));
  if (variables.length > variablesMax)
    throw new AppError("invalid", `The template has more than ${variablesMax} variables. Use fewer.`);
  for (const { key, type } of variables) {
    const of = uses.get(key);
    const fault = of ? faultOfType(key, type, of) : null;
    if (fault !== null) throw invalidField("variables", fault);
  }
  return { subject, html, text, sender, replyTo, variables };
}

function undeclaredVariables(keys: readonly string[]): AppError {
  const fault = `it does not declare ${keys.map((key) => `\`${key}\``).join(", ")}. Declare every placeholder`;
  return invalidField("variables", `${fault}, or leave \`variables\` out.`, `${fault}.`);
}

const declare = (key: string, type: VariableType): TemplateVariable => ({ key, type, fallbackValue: null });

/** The variables after a change that does not list them. */
export const updateVariables = (
  declared: TemplateVariable[],
  { subject, html, text }: Pick<TemplateContent, "subject" | "html" | "text">,
): TemplateVariable[] =>
  mergeVariables(declared, [subject, html, text], {
    hasFallback: ({ fallbackValue }) => fallbackValue !== null,
    declare,
  });

type Source = Pick<TemplateContent, "subject" | "html" | "text">;

/** Tags that other template languages evaluate. Backstamp sends them as text. */
const LANGUAGES = [
  { name: "EJS", open: "<%", close: "%>" },
  { name: "Jinja and Liquid", open: "{%", close: "%}" },
  { name: "Jinja", open: "{#", close: "#}" },
] as const;

/** A longer match is text that happens to contain both delimiters. */
const tagCharsMax = 200;
const excerptCharsMax = 60;

/**
 * One warning per field and language whose tags it contains. They are stored, and sent unchanged. It is a
 * warning and not an error, because such text may be intended.
 */
export function findForeignTags(source: Source): string[] {
  return (["subject", "html", "text"] as const).flatMap((field) => {
    const text = insertUnsubscribeLink(source[field] ?? "", "", "text");
    return LANGUAGES.flatMap(({ name, open, close }) => {
      const found = findTag(text, open, close);
      if (!found) return [];
      const line = text.slice(0, found.at).split("\n").length;
      const excerpt = found.tag.replace(/\s+/g, " ").slice(0, excerptCharsMax);
      return `\`${field}\` has \`${excerpt}\` on line ${line}. ${name} tags are not evaluated and would be sent as text. Use {{name}} to insert a value.`;
    });
  });
}

/** The first tag; takes time linear in the length of the text. */
function findTag(text: string, open: string, close: string): { at: number; tag: string } | null {
  for (let from = 0; ; ) {
    const first = text.indexOf(open, from);
    const end = first === -1 ? -1 : text.indexOf(close, first + open.length);
    if (end === -1) return null;
    from = end + close.length;
    const at = from - first <= tagCharsMax ? first : text.lastIndexOf(open, end - open.length);
    if (from - at <= tagCharsMax) return { at, tag: text.slice(at, from) };
  }
}
