import { z } from "zod";
import { formatMailbox } from "#server/mail/address/address";
import {
  MailboxList,
  MailboxText,
  optional,
  Subject,
  TemplateValues,
} from "#server/services/emails/accept/message-input";
import {
  TemplateAlias,
  TemplateName,
  TemplateSource,
  TemplateVariables,
} from "#server/services/templates/template-input";
import type { NewTemplate, TemplateChange } from "#server/services/templates/write";

const OPTIONAL = {
  alias: optional(TemplateAlias),
  subject: optional(Subject),
  from: optional(MailboxText),
  reply_to: optional(MailboxList),
  // "" does not count as absent here: an email created from the template has no text part.
  text: TemplateSource.nullish(),
  variables: optional(TemplateVariables),
};

/** The body of `POST /api/templates`. */
export const CreateTemplateBody = z
  .strictObject({
    name: TemplateName,
    html: TemplateSource.min(1, "Must not be empty. Add the HTML of the template."),
    ...OPTIONAL,
  })
  .transform(
    (body): NewTemplate => ({
      name: body.name,
      alias: body.alias ?? null,
      subject: body.subject ?? null,
      html: body.html,
      text: body.text ?? null,
      sender: body.from ? formatMailbox(body.from) : null,
      replyTo: body.reply_to?.map(formatMailbox) ?? null,
      variables: body.variables ?? null,
    }),
  );

/** The body of `PATCH /api/templates/{id}`. Omitted fields do not change. */
export const UpdateTemplateBody = z
  .strictObject({ name: optional(TemplateName), html: optional(TemplateSource), ...OPTIONAL })
  .transform(
    ({ text, from, reply_to, ...body }): TemplateChange => ({
      ...body,
      text: text ?? undefined,
      sender: from && formatMailbox(from),
      replyTo: reply_to?.map(formatMailbox),
    }),
  );

/** The body of `POST /api/templates/{id}/preview`. */
export const PreviewBody = z
  .strictObject({
    variables: optional(TemplateValues),
    version: optional(
      z
        .union([z.string().max(40), z.number().int()], "Must be the id or number of a version.")
        .transform(String),
    ),
  })
  .transform(({ variables, version }) => ({ variables: variables ?? {}, version: version ?? null }));
