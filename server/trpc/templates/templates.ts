import { previewDraft } from "#server/services/templates/preview";
import { publishTemplate } from "#server/services/templates/publish";
import { getTemplate, type ListedTemplate, listTemplates } from "#server/services/templates/read";
import { sendTestEmail } from "#server/services/templates/test-email";
import { readTemplateUse } from "#server/services/templates/use";
import { getVersion, listVersions } from "#server/services/templates/versions";
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  updateTemplate,
} from "#server/services/templates/write";
import {
  presentTemplate,
  presentTemplateSummary,
  presentVersion,
  presentVersionSummary,
} from "#server/shared/wire/template";
import { inTeam, router } from "../init";
import {
  CreateInput,
  ListInput,
  NameInput,
  PreviewInput,
  PublishInput,
  RollBackInput,
  SaveInput,
  TestInput,
  VersionInput,
  VersionsInput,
} from "./input";

const pageRows = 25;

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
export type VersionRow = ReturnType<typeof presentVersionSummary>;

export const templatesRouter = router({
  list: inTeam("templates:read")
    .input(ListInput)
    .query(async ({ ctx, input: { search, after, before } }) => {
      const query = { limit: pageRows, search: search || undefined, after, before };
      const { rows, hasMore } = await listTemplates(ctx.service, query);
      return { rows: rows.map(viewTemplateRow), hasMore };
    }),
  get: inTeam("templates:read")
    .input(NameInput)
    .query(async ({ ctx, input }) => viewTemplate(await getTemplate(ctx.service, input.id))),
  /** Recent use, shown before deletion. */
  use: inTeam("templates:read")
    .input(NameInput)
    .query(async ({ ctx, input }) => {
      const { lastUsedAt, keys } = await readTemplateUse(ctx.service, input.id);
      return { lastUsedAt: lastUsedAt?.toISOString() ?? null, keys };
    }),
  versions: inTeam("templates:read")
    .input(VersionsInput)
    .query(async ({ ctx, input: { id, after, before } }) => {
      const { template, page } = await listVersions(ctx.service, id, { limit: pageRows, after, before });
      return { rows: page.rows.map((row) => presentVersionSummary(template, row)), hasMore: page.hasMore };
    }),
  version: inTeam("templates:read")
    .input(VersionInput)
    .query(async ({ ctx, input }) => presentVersion(await getVersion(ctx.service, input.id, input.version))),
  /** Changes nothing; a POST because the draft may be 1 MB. */
  preview: inTeam("templates:read")
    .input(PreviewInput)
    .mutation(({ ctx, input }) => previewDraft(ctx.service, input.draft, input.values, input.withText)),
  create: inTeam("templates:write")
    .input(CreateInput)
    .mutation(async ({ ctx, input: { team: _, ...input } }) =>
      createTemplate(
        ctx.service,
        { ...input, text: null, sender: null, replyTo: null, variables: null },
        "draft",
      ),
    ),
  save: inTeam("templates:write")
    .input(SaveInput)
    .mutation(({ ctx, input: { id, revision, change } }) => {
      const { from: sender, ...others } = change;
      return updateTemplate(ctx.service, id, { ...others, sender }, { revision });
    }),
  publish: inTeam("templates:write")
    .input(PublishInput)
    .mutation(async ({ ctx, input: { id, revision } }) => publishTemplate(ctx.service, id, { revision })),
  rollBack: inTeam("templates:write")
    .input(RollBackInput)
    .mutation(async ({ ctx, input: { id, version, revision } }) =>
      publishTemplate(ctx.service, id, { version, revision }),
    ),
  duplicate: inTeam("templates:write")
    .input(NameInput)
    .mutation(async ({ ctx, input }) => duplicateTemplate(ctx.service, input.id)),
  remove: inTeam("templates:write")
    .input(NameInput)
    .mutation(async ({ ctx, input }) => deleteTemplate(ctx.service, input.id)),
  /** Sends the saved content, draft or not, like any email. */
  sendTest: inTeam("emails:send")
    .input(TestInput)
    .mutation(async ({ ctx, input: { id, from, to, values } }) =>
      sendTestEmail(ctx.service, id, { from, to, values }),
    ),
});
