import { AppError } from "#server/platform/errors";
import { Subject } from "../emails/accept/message-input";
import type { TemplateVersion } from "./read";
import { fillTemplate, parseTemplate, resolveVariables, type VariableValues } from "./render";

/** The content of a version with its placeholders filled in. */
export type FilledVersion = { subject: string | null; html: string; text: string | null };

/**
 * Fills in a version. An error names the missing variables and `field`, the request field that holds the
 * values. The filled-in subject must be valid for an email.
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

/** Throws 422 if the filled-in subject is invalid: a value may contain what a subject must not. */
export function checkSubject(subject: string): string {
  const read = Subject.safeParse(subject);
  if (!read.success)
    throw new AppError("invalid", `The filled-in \`subject\`: ${read.error.issues[0]?.message}`);
  return subject;
}
