import { AppError } from "#server/errors";
import { Subject } from "../emails/message-input";
import type { TemplateVersion } from "./read";
import { fillTemplate, parseTemplate, resolveVariables, type VariableValues } from "./render";

/** What a version says once its placeholders have values. */
export type FilledVersion = { subject: string | null; html: string; text: string | null };

/**
 * Fills a version in. A value that is missing is named, and so is the `field` of the request where it should stand. What the
 * subject comes to must be one that a mail may have.
 */
export function fillVersion(
  version: Pick<TemplateVersion, "subject" | "html" | "text" | "variables">,
  given: VariableValues,
  field: string,
): FilledVersion {
  const values = resolveVariables(version.variables, given, field);
  const fill = (name: string, source: string, as: "html" | "plain") =>
    fillTemplate(name, parseTemplate(name, source), values, as);
  return {
    subject: version.subject === null ? null : checkSubject(fill("subject", version.subject, "plain")),
    html: fill("html", version.html, "html"),
    text: version.text === null ? null : fill("text", version.text, "plain"),
  };
}

/** A value may carry what a subject must not: checked after filling in, with 422. */
export function checkSubject(subject: string): string {
  const read = Subject.safeParse(subject);
  if (!read.success)
    throw new AppError("invalid", `The filled-in \`subject\`: ${read.error.issues[0]?.message}`);
  return subject;
}
