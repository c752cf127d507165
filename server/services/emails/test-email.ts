import type { Ctx } from "#server/deps";
import type { Mailbox } from "#server/mail/address/address";
import { type AuditEntry, recordAuditHot } from "../audit/record";
import { getTemplate } from "../templates/read";
import { fillVersion, type VariableValues } from "../templates/render";
import { mailboxOf, type NewEmail, sendEmailWith } from "./accept/send";

type Content = Pick<NewEmail, "from" | "replyTo" | "subject" | "html" | "text">;

/**
 * Sends a test to one address. It is sent like any email: the checks of the sender's domain, the suppression
 * list and the limits apply. It is listed with the team's emails, with a tag.
 */
const sendTest = (
  ctx: Ctx,
  { tag, to, ...content }: Content & { tag: string; to: Mailbox },
  entryOf: (emailId: string) => AuditEntry,
): Promise<{ id: string }> =>
  sendEmailWith(
    ctx,
    {
      ...content,
      to: [to],
      cc: [],
      bcc: [],
      headers: [],
      tags: [{ name: tag, value: "true" }],
      template: null,
      attachments: [],
      scheduledAt: null,
    },
    (tx, id) => recordAuditHot(tx, ctx, entryOf(id)),
  );

/** Sends a short text of our own, so that a team can try sending without a program. */
export function sendPlainTest(
  ctx: Ctx,
  { from, to }: { from: Mailbox; to: Mailbox },
): Promise<{ id: string }> {
  const { url } = ctx.home;
  const subject = "Test email from Backstamp";
  const html = `<p>This is a test email from Backstamp at <a href="${url}">${url}</a>.</p><p>It was sent from the console. If you can read it, sending works.</p>`;
  return sendTest(ctx, { tag: "console_test", from, to, replyTo: [], subject, html, text: null }, (id) => ({
    action: "email.test_sent",
    subject: { id, name: subject },
    detail: { to: to.address },
  }));
}

export type TemplateTest = {
  /** Null to use the template's own sender. */
  from: Mailbox | null;
  to: Mailbox;
  values: VariableValues;
};

/** Sends what the editor shows of a template, published or not. */
export async function sendTemplateTest(
  ctx: Ctx,
  idOrAlias: string,
  input: TemplateTest,
): Promise<{ id: string }> {
  const { id, name, version } = await getTemplate(ctx, idOrAlias);
  const from = input.from ?? (version.sender === null ? null : mailboxOf("from", version.sender));
  const replyTo = (version.replyTo ?? []).map((text) => mailboxOf("reply_to", text));
  const content = fillVersion(version, input.values, "values");
  return sendTest(ctx, { tag: "template_test", from, to: input.to, replyTo, ...content }, (emailId) => ({
    action: "template.test_sent",
    subject: { id, name },
    detail: { version: version.number, email: emailId },
  }));
}
