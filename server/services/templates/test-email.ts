import type { Ctx } from "#server/deps";
import type { Mailbox } from "#server/mail/address/address";
import { recordAuditHot } from "../audit/record";
import { mailboxOf, type NewEmail, sendEmailWith } from "../emails/accept/send";
import { getTemplate } from "./read";
import { fillVersion, type VariableValues } from "./render";

export type TestEmail = {
  /** Null to use the template's own sender. */
  from: Mailbox | null;
  to: Mailbox;
  values: VariableValues;
};

const tag = { name: "template_test", value: "true" };

/**
 * Sends what the editor shows of a template, published or not, to one address. It is sent like any email: the
 * checks of the sender's domain, the suppression list and the limits apply. It is listed with the team's
 * emails, with a tag.
 */
export async function sendTestEmail(ctx: Ctx, idOrAlias: string, input: TestEmail): Promise<{ id: string }> {
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
