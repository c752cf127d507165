import { previewDraft } from "#server/services/templates/draft-preview";
import { getTemplateForEditor, readTemplateUse, searchTemplates } from "#server/services/templates/overview";
import { publishTemplate, publishVersion } from "#server/services/templates/publish";
import { sendTestEmail } from "#server/services/templates/test-email";
import { getVersion, listVersions } from "#server/services/templates/versions";
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  updateTemplate,
} from "#server/services/templates/write";
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
import { viewContent, viewTemplate, viewTemplateRow, viewUse, viewVersionRow } from "./views";

const pageRows = 25;

export const templatesRouter = router({
  list: inTeam("templates:read")
    .input(ListInput)
    .query(async ({ ctx, input: { search, after, before } }) => {
      const query = {
        limit: pageRows,
        search: search || undefined,
        ...(after && { after }),
        ...(before && { before }),
      };
      const { rows, hasMore } = await searchTemplates(ctx.service, query);
      return { rows: rows.map(viewTemplateRow), hasMore };
    }),
  get: inTeam("templates:read")
    .input(NameInput)
    .query(async ({ ctx, input }) => viewTemplate(await getTemplateForEditor(ctx.service, input.id))),
  /** Recent use, shown before deletion. */
  use: inTeam("templates:read")
    .input(NameInput)
    .query(async ({ ctx, input }) => viewUse(await readTemplateUse(ctx.service, input.id))),
  versions: inTeam("templates:read")
    .input(VersionsInput)
    .query(async ({ ctx, input: { id, after, before } }) => {
      const query = { limit: pageRows, ...(after && { after }), ...(before && { before }) };
      const { template, page } = await listVersions(ctx.service, id, query);
      return { rows: page.rows.map((row) => viewVersionRow(template, row)), hasMore: page.hasMore };
    }),
  version: inTeam("templates:read")
    .input(VersionInput)
    .query(async ({ ctx, input }) => {
      const { version } = await getVersion(ctx.service, input.id, input.version);
      return { number: version.number, ...viewContent(version) };
    }),
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
    .mutation(async ({ ctx, input: { id, revision, change } }) => {
      const { from, ...others } = change;
      return updateTemplate(
        ctx.service,
        id,
        { ...others, ...(from !== undefined && { sender: from }) },
        { revision },
      );
    }),
  publish: inTeam("templates:write")
    .input(PublishInput)
    .mutation(async ({ ctx, input: { id, revision } }) => publishTemplate(ctx.service, id, { revision })),
  rollBack: inTeam("templates:write")
    .input(RollBackInput)
    .mutation(async ({ ctx, input: { id, version, revision } }) =>
      publishVersion(ctx.service, id, version, { revision }),
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
