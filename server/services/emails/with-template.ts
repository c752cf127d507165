import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { type Mailbox, parseMailbox } from "#server/mail/address";
import { getPublishedTemplate } from "../templates/read";
import { fillTemplate, parseTemplate, resolveVariables } from "../templates/render";
import { Subject } from "./message-input";
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
  const values = resolveVariables(version.variables, template.variables);
  const fill = (field: string, source: string, as: "html" | "plain") =>
    fillTemplate(field, parseTemplate(field, source), values, as);
  return {
    from: from ?? (version.sender === null ? null : mailboxOf("from", version.sender)),
    replyTo:
      replyTo.length > 0 ? replyTo : (version.replyTo ?? []).map((address) => mailboxOf("reply_to", address)),
    subject:
      subject ?? (version.subject === null ? null : checkSubject(fill("subject", version.subject, "plain"))),
    html: fill("html", version.html, "html"),
    text: version.text === null ? null : fill("text", version.text, "plain"),
    templateId: id,
    templateVersionId: version.id,
  };
}

function mailboxOf(field: string, source: string): Mailbox {
  const read = parseMailbox(source);
  if (!read.ok) throw new AppError("invalid", `The template's \`${field}\`: ${read.fault}`);
  return read.mailbox;
}

/** A value may carry what a subject must not: checked after filling in. */
function checkSubject(subject: string): string {
  const read = Subject.safeParse(subject);
  if (!read.success)
    throw new AppError("invalid", `The filled-in \`subject\`: ${read.error.issues[0]?.message}`);
  return subject;
}
