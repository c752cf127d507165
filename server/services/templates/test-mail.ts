import type { Ctx } from "#server/deps";
import type { Mailbox } from "#server/mail/address";
import { recordAuditHot } from "../audit/record";
import { type NewEmail, sendEmailWith } from "../emails/send";
import { mailboxOf } from "../emails/with-template";
import { fillVersion } from "./fill-version";
import { getTemplate } from "./read";
import type { VariableValues } from "./render";

export type TestMail = {
  /** Null for the template's own. */
  from: Mailbox | null;
  to: Mailbox;
  values: VariableValues;
};

const tag = { name: "template_test", value: "true" };

/**
 * Sends what the editor shows of a template, published or not, to one address. It goes the way of all mail: the sender's
 * domain, the suppression list and the limits of its domain count, and it stands among the team's mails, marked by a tag.
 */
export async function sendTestMail(ctx: Ctx, idOrAlias: string, input: TestMail): Promise<{ id: string }> {
  const { id, name, version } = await getTemplate(ctx, idOrAlias);
  const { subject, html, text } = fillVersion(version, input.values, "values");
  const mail: NewEmail = {
    from: input.from ?? (version.sender === null ? null : mailboxOf("from", version.sender)),
    to: [input.to],
    cc: [],
    bcc: [],
    replyTo: (version.replyTo ?? []).map((text) => mailboxOf("reply_to", text)),
    subject,
    html,
    text,
    headers: [],
    tags: [tag],
    template: null,
    attachments: [],
    scheduledAt: null,
  };
  return sendEmailWith(ctx, mail, (tx, emailId) =>
    recordAuditHot(tx, ctx, {
      action: "template.test_sent",
      subject: { id, name },
      detail: { version: version.number, email: emailId },
    }),
  );
}
