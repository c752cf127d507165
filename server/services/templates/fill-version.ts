import { AppError } from "#server/platform/errors";
import type { TemplateVersion } from "#server/shared/wire/template";
import { Subject } from "../emails/accept/message-input";
import { fillTemplate, resolveVariables, type VariableValues } from "./render";

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
  const { subject, html, text } = version;
  return {
    subject: subject === null ? null : checkSubject(fillTemplate("subject", subject, values, "plain")),
    html: fillTemplate("html", html, values, "html"),
    text: text === null ? null : fillTemplate("text", text, values, "plain"),
  };
}

/** Throws 422 if the filled-in subject is invalid: a value may contain what a subject must not. */
export function checkSubject(subject: string): string {
  const read = Subject.safeParse(subject);
  if (!read.success)
    throw new AppError("invalid", `The filled-in \`subject\`: ${read.error.issues[0]?.message}`);
  return subject;
}
