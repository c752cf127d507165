import type { TemplateValue } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { namesInLists, optionalKeysIn } from "#server/shared/template-variables";
import type { Template, TemplateVersion } from "#server/shared/wire/template";
import { checkContent, findForeignTags } from "./content";
import { fillTemplate, type Missing } from "./fill-template";
import { getTemplate } from "./read";
import { checkSubject, type FilledVersion, fillVersion, isOfType, type VariableValues } from "./render";
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
  const filled = fillVersion(template.version, input.variables, "variables");
  await ctx.claim?.expand(filled.html.length + (filled.text?.length ?? 0));
  return { template, ...filled };
}

/**
 * Unsaved content of the editor, which may be invalid. A `text` of null is generated from the HTML; "" omits
 * it.
 */
export type Draft = Pick<TemplateVersion, "subject" | "html" | "text" | "variables">;

/** Missing values of lists that a preview names. */
const missingListed = 60;

/**
 * Renders a draft like a send, but reports faults per field instead of failing. `withText` also generates the
 * text part from the HTML, which is slow. A field with a fault is null, and `faults` has the message that a
 * save would return. `warnings` are tags of other template languages, which a send would deliver as text.
 * `missing` are variables with neither a value nor a fallback; the preview shows their placeholders
 * unchanged, and repeats the block of such a list once.
 */
export async function previewDraft(
  { teamId, convertToText }: Pick<Ctx, "teamId" | "convertToText">,
  draft: Draft,
  given: VariableValues,
  withText: boolean,
) {
  const faults: { field: keyof Draft; message: string }[] = [];
  const values = new Map<string, TemplateValue>();
  const absent = new Set<string>();
  const optional = optionalKeysIn(draft.subject, draft.html, draft.text);
  for (const { key, type, fallbackValue } of draft.variables) {
    const own = Object.hasOwn(given, key) ? given[key] : undefined;
    // A value of the wrong type counts as missing: a send would reject it.
    const value = own !== undefined && isOfType(own, type) ? own : fallbackValue;
    if (value !== null) values.set(key, value);
    else if (!optional.has(key)) absent.add(key);
  }
  for (const key of namesInLists(draft.subject, draft.html, draft.text))
    if (!values.has(key) && Object.hasOwn(given, key)) values.set(key, given[key] ?? null);
  const isKnown = (name: string) => absent.has(name.split(/[.[]/, 1)[0] ?? "");
  const missing: Missing = {
    value: (name, written) => {
      if (!isKnown(name) && absent.size < missingListed) absent.add(name);
      return written;
    },
    // One repetition shows the tags of the block.
    list: (name) => {
      if (!isKnown(name) && absent.size < missingListed) absent.add(name);
      return 1;
    },
  };
  const attempt = <T>(field: keyof Draft, make: () => T): T | null => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      faults.push({ field, message: error.plain });
      return null;
    }
  };
  const fill = (field: "subject" | "html" | "text", source: string) =>
    fillTemplate(field, source, values, field === "html" ? "html" : "plain", missing);

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
  return {
    ...filled,
    text: filled.text ?? madeText,
    faults,
    warnings: findForeignTags(draft),
    missing: [...absent],
  };
}

/** An email rendered from a draft. */
export type DraftPreview = Awaited<ReturnType<typeof previewDraft>>;
