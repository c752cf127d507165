import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { Template, TemplateVersion } from "#server/shared/wire/template";
import { checkContent, findForeignTags } from "./content";
import { getTemplate } from "./read";
import { checkSubject, type FilledVersion, fillTemplate, fillVersion, type VariableValues } from "./render";
import { getVersion } from "./versions";

export type Preview = FilledVersion & { template: Template };

/**
 * Renders an email with the given version of a template, or with the one that the editor shows. Does not send
 * it.
 */
export async function previewTemplate(
  ctx: Ctx,
  idOrAlias: string,
  input: { variables: VariableValues; version: string | null },
): Promise<Preview> {
  const template =
    input.version === null
      ? await getTemplate(ctx, idOrAlias)
      : await getVersion(ctx, idOrAlias, input.version);
  return { template, ...fillVersion(template.version, input.variables, "variables") };
}

/** Unsaved content of the editor, which may be invalid. A `text` of null is generated from the HTML; "" omits it. */
export type Draft = Pick<TemplateVersion, "subject" | "html" | "text" | "variables">;

/**
 * Renders a draft like a send, but reports faults per field instead of failing. `withText` also generates the
 * text part from the HTML, which is slow. A field with a fault is null, and `faults` has the message that a save would return.
 * `warnings` are tags of other template languages, which a send would deliver as text. `missing` are variables with neither a
 * value nor a fallback; the preview shows their placeholders unchanged.
 */
export async function previewDraft(
  { teamId, convertToText }: Pick<Ctx, "teamId" | "convertToText">,
  draft: Draft,
  given: VariableValues,
  withText: boolean,
) {
  const faults: { field: keyof Draft; message: string }[] = [];
  const missing: string[] = [];
  const values = new Map<string, string>();
  for (const { key, type, fallbackValue } of draft.variables) {
    const own = Object.hasOwn(given, key) ? given[key] : undefined;
    // A value of the wrong type counts as missing: a send would reject it.
    const value = own !== undefined && (type === "string" || typeof own === "number") ? own : fallbackValue;
    if (value === null) missing.push(key);
    values.set(key, value === null ? `{{${key}}}` : String(value));
  }
  const attempt = <T>(field: keyof Draft, make: () => T): T | null => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      faults.push({ field, message: error.message });
      return null;
    }
  };
  const fill = (field: "subject" | "html" | "text", source: string) =>
    fillTemplate(field, source, values, field === "html" ? "html" : "plain");

  const { subject, html, text } = draft;
  const filled = {
    subject: subject === null ? null : attempt("subject", () => checkSubject(fill("subject", subject))),
    html: attempt("html", () => fill("html", html)),
    text: text === null ? null : attempt("text", () => fill("text", text)),
  };
  // The checks across fields run only when each field is valid by itself.
  if (faults.length === 0)
    attempt("variables", () => checkContent({ ...draft, sender: null, replyTo: null }));
  const madeText =
    text === null && withText && filled.html !== null ? await convertToText(teamId, filled.html) : null;
  return { ...filled, text: filled.text ?? madeText, faults, warnings: findForeignTags(draft), missing };
}

/** An email rendered from a draft. */
export type DraftPreview = Awaited<ReturnType<typeof previewDraft>>;
