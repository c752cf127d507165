import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { type Mailbox, parseMailbox } from "#server/mail/address";
import { fillVersion } from "../templates/fill-version";
import { getPublishedTemplate } from "../templates/read";
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
 * What a mail says. With a template its published version is filled in; from, subject and reply_to of the mail override
 * the template's. html or text beside a template are refused: it would not be clear which of them counts.
 */
export async function renderWith(ctx: Ctx, input: NewEmail): Promise<Content> {
  const { from, replyTo, subject, html, text, template } = input;
  if (!template) return { from, replyTo, subject, html, text, templateId: null, templateVersionId: null };
  if (html !== null || text !== null)
    throw new AppError("invalid", "Give `html` and `text`, or `template`, but not both.");
  const { id, version } = await getPublishedTemplate(ctx, template.id).catch((error) => {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    throw new AppError("not_found", `Invalid \`template.id\`: this team has no template ${template.id}.`);
  });
  // A subject of the mail's own takes the place of the template's, which is then not filled in.
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

/** A mailbox that stands in a template; `field` is named where it cannot be read. */
export function mailboxOf(field: string, source: string): Mailbox {
  const read = parseMailbox(source);
  if (!read.ok) throw new AppError("invalid", `The template's \`${field}\`: ${read.fault}`);
  return read.mailbox;
}
