import type { Ctx } from "#server/deps";
import { type Mailbox, readMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { fillVersion } from "../../templates/fill-version";
import { getPublishedTemplate } from "../../templates/read";
import type { NewEmail } from "./send";

export type Content = {
  from: Mailbox | null;
  replyTo: Mailbox[];
  subject: string | null;
  html: string | null;
  text: string | null;
  templateId: string | null;
  templateVersionId: string | null;
};

/**
 * The content of an email. With a template, its published version is rendered; `from`, `subject` and
 * `reply_to` of the email override the template's. `html` or `text` beside a template are rejected: it would
 * be unclear which of them applies.
 */
export async function renderContent(ctx: Ctx, input: NewEmail): Promise<Content> {
  const { from, replyTo, subject, html, text, template } = input;
  if (!template) return { from, replyTo, subject, html, text, templateId: null, templateVersionId: null };
  if (html !== null || text !== null)
    throw new AppError("invalid", "Set either `html` and `text`, or `template`, not both.");
  const { id, version } = await getPublishedTemplate(ctx, template.id).catch((error) => {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    throw new AppError("not_found", `Invalid \`template.id\`: this team has no template ${template.id}.`);
  });
  // The email's own subject replaces the template's, which is then not rendered.
  const used = { ...version, subject: subject === null ? version.subject : null };
  const filled = fillVersion(used, template.variables, "template.variables");
  return {
    from: from ?? (version.sender === null ? null : mailboxOf("from", version.sender)),
    replyTo:
      replyTo.length > 0 ? replyTo : (version.replyTo ?? []).map((address) => mailboxOf("reply_to", address)),
    subject: subject ?? filled.subject,
    html: filled.html,
    text: filled.text,
    templateId: id,
    templateVersionId: version.id,
  };
}

/** Parses a mailbox of a template; the error names `field`. */
export function mailboxOf(field: string, source: string): Mailbox {
  const read = readMailbox(source);
  if (!read.ok) throw new AppError("invalid", `The template's \`${field}\`: ${read.fault}`);
  return read.mailbox;
}
