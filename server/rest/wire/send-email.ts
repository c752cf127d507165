import { z } from "zod";
import { Attachments } from "#server/services/emails/attachment-input";
import {
  Headers,
  MailboxList,
  MailboxText,
  optional,
  ScheduledAt,
  Subject,
  Tags,
  TemplateUse,
} from "#server/services/emails/message-input";
import type { NewEmail } from "#server/services/emails/send";
import { Id } from "./shapes";

const Body = z.string("Must be a string.");

export const AcceptedAnswer = z
  .object({ id: Id.describe("Of the mail, which is committed by now and will be delivered.") })
  .meta({ id: "Accepted" });

/** The body of `POST /api/emails`. */
export const SendEmailBody = z
  .strictObject({
    from: optional(MailboxText),
    to: optional(MailboxList),
    subject: optional(Subject),
    html: optional(Body),
    // "" is no absence here: it asks for a mail without text part.
    text: Body.nullish(),
    cc: optional(MailboxList),
    bcc: optional(MailboxList),
    reply_to: optional(MailboxList),
    headers: optional(Headers),
    tags: optional(Tags),
    template: optional(TemplateUse),
    topic_id: z.unknown().optional(),
    scheduled_at: optional(ScheduledAt),
    attachments: optional(Attachments),
  })
  .transform(
    (body): NewEmail => ({
      from: body.from ?? null,
      to: body.to ?? [],
      cc: body.cc ?? [],
      bcc: body.bcc ?? [],
      replyTo: body.reply_to ?? [],
      subject: body.subject ?? null,
      html: body.html ?? null,
      text: body.text ?? null,
      headers: body.headers ?? [],
      tags: body.tags ?? [],
      template: body.template ? { id: body.template.id, variables: body.template.variables ?? {} } : null,
      attachments: body.attachments ?? [],
      scheduledAt: body.scheduled_at ?? null,
    }),
  );

/** The query of the calls that accept mail: with `dry_run` they only tell what they would do. */
export const SendQuery = z.strictObject({
  dry_run: z
    .enum(["true", "false"], "Must be true or false.")
    .optional()
    .describe("With true the call only tells what it would do."),
});

export const asksOnly = ({ dry_run }: z.output<typeof SendQuery>): boolean => dry_run === "true";
