import { z } from "zod";
import {
  absent,
  Headers,
  MailboxList,
  MailboxText,
  optional,
  Subject,
  Tags,
  TemplateUse,
} from "#server/services/emails/message-input";
import type { NewEmail } from "#server/services/emails/send";

const Body = z.string("Must be a string.");

/** A field of the dialect that is known but not offered: refused when it says something, since dropping it would lie. */
const notOffered = (message: string) =>
  z.preprocess(
    absent,
    z
      .unknown()
      .refine((value) => value === undefined, message)
      .optional(),
  );

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
    scheduled_at: notOffered("Mail is sent at once, later sending is not offered. Leave it out."),
    attachments: notOffered("Attachments are not offered. Leave them out."),
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
    }),
  );
