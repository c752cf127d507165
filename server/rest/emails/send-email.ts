import { z } from "zod";
import {
  Attachments,
  Headers,
  ScheduledAt,
  Tags,
  TemplateUse,
} from "#server/services/emails/accept/message-input";
import { type NewEmail, optionsOfFields } from "#server/services/emails/accept/send";
import { MailboxList, MailboxText, optional, optionalFields, Subject } from "#server/services/fields";
import { EMAIL_OPTION_FIELDS } from "#server/shared/wire/email";
import { Id } from "#server/shared/wire/shapes";

const Body = z.string("Must be a string.");

export const AcceptedResponse = z
  .object({ id: Id.describe("The id of the email. The email is committed and queued for delivery.") })
  .meta({ id: "Accepted" });

/** `.github/CONTRIBUTING.md` lists what else a new field changes. */
const EmailFields = z
  .strictObject({
    from: optional(MailboxText).describe(
      "`ann@example.com` or `Ann <ann@example.com>`, at a verified domain to which the key is linked. Required unless the template has a sender.",
    ),
    to: optional(MailboxList).describe("One address, or an array of up to 50. Required."),
    subject: optional(Subject).describe("Required unless the template has one."),
    html: optional(Body).describe("Required unless `text` or `template` is given."),
    // "" does not count as absent here: it requests an email without a text part.
    text: Body.nullish().describe(
      'Converted from `html` if omitted. Send `""` for an email without a text part.',
    ),
    cc: optional(MailboxList).describe("Up to 50 addresses that receive a copy."),
    bcc: optional(MailboxList).describe("Up to 50 addresses that receive a copy and are not in the message."),
    reply_to: optional(MailboxList).describe("Where replies go."),
    headers: optional(Headers).describe("Additional headers of the message, by name."),
    ...optionalFields(EMAIL_OPTION_FIELDS),
    tags: optional(Tags).describe("Labels to find the email by. They are not sent."),
    template: optional(TemplateUse).describe("A published template, in place of `html` and `text`."),
    topic_id: z.unknown().optional().describe("Accepted for clients of Resend, and ignored."),
    scheduled_at: optional(ScheduledAt).describe(
      "ISO 8601 with a time zone, or a phrase such as `in 2 hours`; at most 30 days ahead.",
    ),
    attachments: optional(Attachments).describe(
      "Up to 100 files, each with `content` in Base64 or with a URL in `path`. Up to 20 URLs are fetched, in 20 s in total.",
    ),
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
      ...optionsOfFields(body),
      template: body.template ? { id: body.template.id, variables: body.template.variables ?? {} } : null,
      attachments: body.attachments ?? [],
      scheduledAt: body.scheduled_at ?? null,
    }),
  );

/** The body of `POST /api/emails`, compiled because it is the most frequent one. */
export const SendEmailBody = z.compile(EmailFields);

/** The query of the operations that accept email. */
export const SendQuery = z.strictObject({
  dry_run: z
    .enum(["true", "false"], "Must be true or false.")
    .optional()
    .describe(
      "If true, the call validates the request and returns its predicted result, but sends and stores nothing.",
    ),
});

export const isDryRunQuery = ({ dry_run }: z.output<typeof SendQuery>): boolean => dry_run === "true";
