import { z } from "zod";
import { PRIORITIES } from "#db/schema/emails";
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
    from: optional(MailboxText).describe(
      "`ann@example.com` or `Ann <ann@example.com>`, of a verified domain that the key is linked to. Required unless the template has one.",
    ),
    to: optional(MailboxList).describe("One mailbox, or up to 50 as an array. Required."),
    subject: optional(Subject).describe("Required unless the template has one."),
    html: optional(Body).describe("Required unless `text` or `template` is given."),
    // "" is no absence here: it asks for a mail without text part.
    text: Body.nullish().describe('Made from `html` where it is left out; `""` asks for none.'),
    cc: optional(MailboxList),
    bcc: optional(MailboxList),
    reply_to: optional(MailboxList),
    headers: optional(Headers).describe("Further headers of the message, by name."),
    list_unsubscribe: optional(z.boolean("Must be true or false.")).describe(
      "Whether each recipient can unsubscribe with one click (RFC 8058). Whoever does gets no more mail that is sent so.",
    ),
    tags: optional(Tags).describe("Words to find the mail by. They are not sent."),
    template: optional(TemplateUse).describe("A published template, in place of `html` and `text`."),
    topic_id: z.unknown().optional(),
    priority: optional(z.enum(PRIORITIES, `Must be one of ${PRIORITIES.join(", ")}.`)).describe(
      "Of what is due, a team's mail of high priority goes first; of each claim some places are kept for the others. Default: normal.",
    ),
    scheduled_at: optional(ScheduledAt).describe(
      "ISO 8601 with zone, or in words such as `in 2 hours`; up to 30 days ahead.",
    ),
    attachments: optional(Attachments).describe(
      "Each by its `content` in Base64, or by a `path` that is fetched.",
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
      headers: body.headers ?? [],
      priority: body.priority ?? "normal",
      listUnsubscribe: body.list_unsubscribe ?? false,
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
