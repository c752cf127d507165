import { z } from "zod";
import { formatMailbox } from "#server/mail/address/address";
import { sendTemplateTest } from "#server/services/emails/test-email";
import { MailboxList, MailboxText, Subject } from "#server/services/fields";
import { previewDraft } from "#server/services/templates/preview";
import {
  getTemplate,
  getTemplateUse,
  type ListedTemplate,
  listTemplates,
} from "#server/services/templates/read";
import { variablesMax } from "#server/services/templates/render";
import {
  TemplateAlias,
  TemplateName,
  TemplateSource,
  TemplateVariables,
} from "#server/services/templates/template-input";
import { TemplateValues } from "#server/services/templates/template-values";
import {
  findPublications,
  getVersion,
  listVersions,
  type Publication,
  publishTemplate,
} from "#server/services/templates/versions";
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  updateTemplate,
} from "#server/services/templates/write";
import { withIsoTimes } from "#server/shared/wire/shapes";
import {
  presentTemplate,
  presentTemplateSummary,
  presentVersion,
  presentVersionSummary,
  type TemplateSummary,
  type VersionSummary,
} from "#server/shared/wire/template";
import { CURSOR, inTeam, pageRows, router } from "../init";

const id = z.string().max(60);
const revision = z.int().min(1);
const version = z.string().max(40);
/** Values for a preview: at most as many as a template may have variables. */
const values = TemplateValues.refine(
  (given) => Object.keys(given).length <= variablesMax,
  `At most ${variablesMax} values.`,
);

const text = TemplateSource.nullable();
const Html = TemplateSource.min(1, "Enter the HTML of the template.");
const from = MailboxText.transform(formatMailbox).nullable();
const replyTo = MailboxList.transform((list) => list.map(formatMailbox)).nullable();

const TemplateId = { id };

const CreateInput = {
  name: TemplateName,
  alias: TemplateAlias.nullable(),
  subject: Subject.nullable(),
  html: Html,
  text: text.optional(),
};

/** Absent fields stay unchanged; null clears a field. `revision` is the one that the caller has read. */
const SaveInput = {
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
  /** A save of the editor after a pause. Within some minutes, the audit log has one entry for them. */
  isAutomatic: z.boolean().optional(),
};

/**
 * The editor's content, saved or not. Only its size is validated here, because content faults are part of the
 * response.
 */
const PreviewInput = {
  draft: z.strictObject({
    subject: z.string().max(10_000).nullable(),
    html: TemplateSource,
    text,
    variables: TemplateVariables,
  }),
  values,
  withText: z.boolean(),
};

/** A template in the list. */
function viewTemplateRow({ currentNumber, publishedNumber, lastUsedAt, ...template }: ListedTemplate) {
  const lastUsed = lastUsedAt?.toISOString() ?? null;
  return { ...presentTemplateSummary(template), currentNumber, publishedNumber, lastUsedAt: lastUsed };
}
export type TemplateRow = ReturnType<typeof viewTemplateRow>;

/** A template with its current version. A save must include `revision`. */
function viewTemplate(template: Awaited<ReturnType<typeof getTemplate>>) {
  const { revision, publishedNumber, version } = template;
  return { ...presentTemplate(template), revision, number: version.number, publishedNumber };
}
export type TemplateView = ReturnType<typeof viewTemplate>;

/** A version in the list, with its last publication. */
function viewVersionRow(template: TemplateSummary, version: VersionSummary, publication?: Publication) {
  return {
    ...presentVersionSummary(template, version),
    publication: publication ? withIsoTimes(publication) : null,
  };
}
export type VersionRow = ReturnType<typeof viewVersionRow>;

export const templatesRouter = router({
  list: inTeam("templates:read", { search: z.string().trim().max(200).optional(), ...CURSOR }).query(
    async ({ ctx, input: { search, after, before } }) => {
      const query = { limit: pageRows, search: search || undefined, after, before };
      const { rows, hasMore } = await listTemplates(ctx.service, query);
      return { rows: rows.map(viewTemplateRow), hasMore };
    },
  ),
  get: inTeam("templates:read", TemplateId).query(async ({ ctx, input }) =>
    viewTemplate(await getTemplate(ctx.service, input.id)),
  ),
  /** Recent use, shown before deletion. */
  use: inTeam("templates:read", TemplateId).query(async ({ ctx, input }) => {
    return withIsoTimes(await getTemplateUse(ctx.service, input.id));
  }),
  versions: inTeam("templates:read", { ...TemplateId, ...CURSOR }).query(
    async ({ ctx, input: { id, after, before } }) => {
      const { template, page } = await listVersions(ctx.service, id, { limit: pageRows, after, before });
      const numbers = page.rows.map(({ number }) => number);
      const publications = await findPublications(ctx.service, template.id, numbers);
      const rows = page.rows.map((row) => viewVersionRow(template, row, publications.get(row.number)));
      return { rows, hasMore: page.hasMore };
    },
  ),
  version: inTeam("templates:read", { ...TemplateId, version }).query(async ({ ctx, input }) =>
    presentVersion(await getVersion(ctx.service, input.id, input.version)),
  ),
  /** Changes nothing; a POST because the draft may be 1 MB. */
  preview: inTeam("templates:read", PreviewInput).mutation(({ ctx, input }) =>
    previewDraft(ctx.service, input.draft, input.values, input.withText),
  ),
  create: inTeam("templates:write", CreateInput).mutation(
    async ({ ctx, input: { team: _, text = null, ...input } }) =>
      createTemplate(ctx.service, { ...input, text, sender: null, replyTo: null, variables: null }, "draft"),
  ),
  save: inTeam("templates:write", SaveInput).mutation(
    ({ ctx, input: { id, revision, change, isAutomatic } }) => {
      const { from: sender, ...others } = change;
      return updateTemplate(ctx.service, id, { ...others, sender }, { revision, isAutomatic });
    },
  ),
  publish: inTeam("templates:write", { ...TemplateId, revision }).mutation(
    async ({ ctx, input: { id, revision } }) => publishTemplate(ctx.service, id, { revision }),
  ),
  rollBack: inTeam("templates:write", { ...TemplateId, version, revision }).mutation(
    async ({ ctx, input: { id, version, revision } }) =>
      publishTemplate(ctx.service, id, { version, revision }),
  ),
  duplicate: inTeam("templates:write", TemplateId).mutation(async ({ ctx, input }) =>
    duplicateTemplate(ctx.service, input.id),
  ),
  remove: inTeam("templates:write", TemplateId).mutation(async ({ ctx, input }) =>
    deleteTemplate(ctx.service, input.id),
  ),
  /** Sends the saved content, draft or not, like any email. */
  sendTest: inTeam("emails:send", {
    ...TemplateId,
    from: MailboxText.nullable(),
    to: MailboxText,
    values,
  }).mutation(async ({ ctx, input: { id, from, to, values } }) =>
    sendTemplateTest(ctx.service, id, { from, to, values }),
  ),
});
