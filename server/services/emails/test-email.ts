import type { Ctx } from "#server/deps";
import type { Mailbox } from "#server/mail/address/address";
import { recordAuditHot } from "../audit/record";
import { sendEmailWith } from "./accept/send";

const tag = { name: "console_test", value: "true" };

/**
 * Sends a short text of our own to one address, so that a team can try sending without a program. It is sent
 * like any email: the checks of the sender's domain, the suppression list and the limits apply.
 */
export async function sendPlainTest(
  ctx: Ctx,
  { from, to }: { from: Mailbox; to: Mailbox },
): Promise<{ id: string }> {
  const mail = {
    from,
    to: [to],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: "Test email from Backstamp",
    html: `<p>This is a test email from Backstamp at <a href="${ctx.home.url}">${ctx.home.url}</a>.</p><p>It was sent from the console. If you can read it, sending works.</p>`,
    text: null,
    headers: [],
    tags: [tag],
    template: null,
    attachments: [],
    scheduledAt: null,
  };
  return sendEmailWith(ctx, mail, (tx, id) =>
    recordAuditHot(tx, ctx, {
      action: "email.test_sent",
      subject: { id, name: mail.subject },
      detail: { to: to.address },
    }),
  );
}
