import type { TemplateVariable } from "#db/schema/templates";
import { AppError } from "#server/errors";
import { textOfHtml } from "#server/mail/html-text";
import { checkContent } from "./content";
import { checkSubject } from "./fill-version";
import { fillTemplate, parseTemplate, type VariableValues } from "./render";

/** What somebody has written so far, which need not be right yet. */
export type Draft = {
  subject: string | null;
  html: string;
  /** Null for a text part made from the HTML, "" for none. */
  text: string | null;
  variables: TemplateVariable[];
};

export type DraftField = "subject" | "html" | "text" | "variables";

/** What a mail made with a draft would say. A field with a fault is null, and the fault says what a save would say. */
export type DraftPreview = {
  subject: string | null;
  html: string | null;
  text: string | null;
  faults: { field: DraftField; message: string }[];
  /** Variables with neither a value nor a fallback, which stand in the preview as they are written. */
  missing: string[];
};

/**
 * Fills a draft in as a send would, as far as it goes: what is not right yet is told beside what is. `withText` asks for the
 * text part too, whose making from HTML takes a while.
 */
export function previewDraft(draft: Draft, given: VariableValues, withText: boolean): DraftPreview {
  const faults: DraftPreview["faults"] = [];
  const missing: string[] = [];
  const values = new Map<string, string>();
  for (const { key, type, fallbackValue } of draft.variables) {
    const own = Object.hasOwn(given, key) ? given[key] : undefined;
    // A mistyped value is none: a send with it would be refused.
    const value = own !== undefined && (type === "string" || typeof own === "number") ? own : fallbackValue;
    if (value === null) missing.push(key);
    values.set(key, value === null ? `{{${key}}}` : String(value));
  }
  const attempt = <T>(field: DraftField, make: () => T): T | null => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      faults.push({ field, message: error.message });
      return null;
    }
  };
  const fill = (field: "subject" | "html" | "text", source: string) =>
    fillTemplate(field, parseTemplate(field, source), values, field === "html" ? "html" : "plain");

  const { subject, html, text } = draft;
  const filled = {
    subject: subject === null ? null : attempt("subject", () => checkSubject(fill("subject", subject))),
    html: attempt("html", () => fill("html", html)),
    text: text === null ? null : attempt("text", () => fill("text", text)),
  };
  // What a save says about them together, once each of them can be read.
  if (faults.length === 0)
    attempt("variables", () => checkContent({ ...draft, sender: null, replyTo: null }));
  const madeText = text === null && withText && filled.html !== null ? textOfHtml(filled.html) : null;
  return { ...filled, text: filled.text ?? madeText, faults, missing };
}
