import { z } from "zod";
import { formatMailbox } from "#server/mail/address";
import { MailboxList, MailboxText, Subject, VariableValue } from "#server/services/emails/message-input";
import { variablesMax } from "#server/services/templates/render";
import {
  TemplateAlias,
  TemplateName,
  TemplateSource,
  TemplateVariables,
} from "#server/services/templates/template-input";
import { strictInput } from "./strict";

const id = z.string().max(60);
const revision = z.int().min(1);

/** Values for a look at a template: at most as many as it may have variables. */
const values = z
  .record(z.string().max(50), VariableValue)
  .refine((given) => Object.keys(given).length <= variablesMax, `At most ${variablesMax} values.`);

const text = TemplateSource.nullable();
const Html = TemplateSource.min(1, "Give the template some HTML.");
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

/** What is left out stays as it is; null takes it away. `revision` is the one that was read. */
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

/** What stands in the editor, saved or not. Faults of its content are part of the answer, so only its size is judged here. */
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
