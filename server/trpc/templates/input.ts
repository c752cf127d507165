import { z } from "zod";
import { formatMailbox } from "#server/mail/address/address";
import {
  MailboxList,
  MailboxText,
  Subject,
  VariableValue,
} from "#server/services/emails/accept/message-input";
import { variablesMax } from "#server/services/templates/render";
import {
  TemplateAlias,
  TemplateName,
  TemplateSource,
  TemplateVariables,
} from "#server/services/templates/template-input";
import { strictInput } from "../strict";

const id = z.string().max(60);
const revision = z.int().min(1);

/** Values for a preview: at most as many as a template may have variables. */
const values = z
  .record(z.string().max(50), VariableValue)
  .refine((given) => Object.keys(given).length <= variablesMax, `At most ${variablesMax} values.`);

const text = TemplateSource.nullable();
const Html = TemplateSource.min(1, "Enter the HTML of the template.");
const from = MailboxText.transform(formatMailbox).nullable();
const replyTo = MailboxList.transform((list) => list.map(formatMailbox)).nullable();

export const ListInput = strictInput({
  search: z.string().trim().max(200).optional(),
  after: z.uuid().optional(),
  before: z.uuid().optional(),
});
export const NameInput = strictInput({ id });
export const VersionInput = strictInput({ id, version: z.string().max(40) });
export const VersionsInput = strictInput({ id, after: z.uuid().optional(), before: z.uuid().optional() });

export const CreateInput = strictInput({
  name: TemplateName,
  alias: TemplateAlias.nullable(),
  subject: Subject.nullable(),
  html: Html,
});

/** Absent fields stay unchanged; null clears a field. `revision` is the one that the caller has read. */
export const SaveInput = strictInput({
  id,
  revision,
  change: z.strictObject({
    name: TemplateName.optional(),
    alias: TemplateAlias.nullable().optional(),
    subject: Subject.nullable().optional(),
    html: Html.optional(),
    text: text.optional(),
    from: from.optional(),
    replyTo: replyTo.optional(),
    variables: TemplateVariables.optional(),
  }),
});
export const PublishInput = strictInput({ id, revision });
export const RollBackInput = strictInput({ id, version: z.string().max(40), revision });

/**
 * The editor's content, saved or not. Only its size is validated here, because content faults are part of the
 * response.
 */
export const PreviewInput = strictInput({
  draft: z.strictObject({
    subject: z.string().max(10_000).nullable(),
    html: TemplateSource,
    text,
    variables: TemplateVariables,
  }),
  values,
  withText: z.boolean(),
});

export const TestInput = strictInput({
  id,
  from: MailboxText.nullable(),
  to: MailboxText,
  values,
});
