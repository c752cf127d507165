import { z } from "zod";
import { formatMailbox } from "#server/mail/address/address";
import { MailboxList, MailboxText, optional, Subject } from "#server/services/fields";
import { previewTemplate } from "#server/services/templates/preview";
import { getTemplate, listTemplates } from "#server/services/templates/read";
import {
  TemplateAlias,
  TemplateName,
  TemplateSource,
  TemplateVariables,
} from "#server/services/templates/template-input";
import { sizeRule, TemplateValues } from "#server/services/templates/template-values";
import { getVersion, listVersions, publishTemplate } from "#server/services/templates/versions";
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  type NewTemplate,
  type TemplateChange,
  updateTemplate,
} from "#server/services/templates/write";
import { changed, deleted, Id, listOf, presentChanged, presentDeleted } from "#server/shared/wire/shapes";
import {
  presentTemplate,
  presentTemplateSummary,
  presentVersion,
  presentVersionSummary,
  TemplateResponse,
  TemplateSummaryResponse,
  VersionResponse,
  VersionSummaryResponse,
} from "#server/shared/wire/template";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";

const OPTIONAL = {
  alias: optional(TemplateAlias).describe("A name that can be used in place of the id."),
  subject: optional(Subject).describe("The subject, which can have placeholders."),
  from: optional(MailboxText).describe("The sender of emails that have none."),
  reply_to: optional(MailboxList).describe("Where replies go."),
  // "" does not count as absent here: an email created from the template has no text part.
  text: TemplateSource.nullish().describe(
    'The text part. Converted from `html` if omitted; `""` for emails without one.',
  ),
  variables: optional(TemplateVariables).describe(
    `The placeholders, with their types and fallback values. ${sizeRule}`,
  ),
};

/** The body of `POST /api/templates`. */
export const CreateTemplateBody = z
  .strictObject({
    name: TemplateName.describe("The name in lists."),
    html: TemplateSource.min(1, "Must not be empty. Add the HTML of the template.").describe(
      "The HTML, which can have placeholders.",
    ),
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
  .strictObject({
    name: optional(TemplateName).describe("The name in lists."),
    html: optional(TemplateSource).describe("The HTML, which can have placeholders."),
    ...OPTIONAL,
  })
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
    variables: optional(TemplateValues).describe(`Sample values, by name. ${sizeRule}`),
    version: optional(
      z
        .union([z.string().max(40), z.number().int()], "Must be the id or number of a version.")
        .transform(String),
    ).describe("The version. Default: the draft, or the published version if there is none."),
  })
  .transform(({ variables, version }) => ({ variables: variables ?? {}, version: version ?? null }));

const ID_OR_ALIAS = { id: "The template's id or alias." };

const savedJson = ({ id, warnings }: { id: string; warnings: string[] }) =>
  ({ object: "template" as const, id, ...(warnings.length > 0 && { warnings }) }) as const;

const SavedResponse = changed("template").extend({
  warnings: z
    .array(z.string())
    .optional()
    .describe("Tags of other template languages in the content. They are sent as plain text."),
});

const VERSION = { ...ID_OR_ALIAS, version: "The id or number of a version." };

const PreviewResponse = z
  .object({
    object: z.literal("template_preview"),
    template_id: Id,
    version_id: Id,
    version: z.int(),
    from: z.string().nullable(),
    reply_to: z.array(z.string()).nullable(),
    subject: z.string().nullable(),
    html: z.string(),
    text: z.string().nullable(),
  })
  .meta({ id: "TemplatePreview" });

export const templateRoutes = [
  /** The new template is published, so it can be used immediately. */
  withApi({
    route: "POST /api/templates",
    access: { scope: "templates:write" },
    tier: "POST /api/templates",
    summary: "Create and publish a template",
    status: 201,
    body: CreateTemplateBody,
    example: {
      body: {
        name: "Welcome",
        alias: "welcome",
        subject: "Welcome, {{{NAME}}}",
        html: "<p>Good to have you, {{{NAME}}}.</p>",
        variables: [{ key: "NAME", type: "string", fallback_value: "friend" }],
      },
    },
    response: SavedResponse,
    errors: ["conflict"],
    handle: async ({ ctx, body }) => savedJson(await createTemplate(ctx, body)),
  }),
  withApi({
    route: "GET /api/templates",
    access: { scope: "templates:read" },
    summary: "List templates, newest first",
    query: listQuery({}),
    example: { query: { limit: "20" } },
    response: listOf(TemplateSummaryResponse),
    handle: async ({ ctx, query }) => listJson(await listTemplates(ctx, query), presentTemplateSummary),
  }),
  withApi({
    route: "GET /api/templates/{id}",
    access: { scope: "templates:read" },
    summary: "Get a template by id or alias; returns the draft if there is one",
    params: ID_OR_ALIAS,
    response: TemplateResponse,
    handle: async ({ ctx, params }) => presentTemplate(await getTemplate(ctx, params.id)),
  }),
  withApi({
    route: "PATCH /api/templates/{id}",
    access: { scope: "templates:write" },
    summary: "Update a template's draft; sends use the published version until the next publish",
    params: ID_OR_ALIAS,
    body: UpdateTemplateBody,
    example: { body: { subject: "Welcome aboard" } },
    response: SavedResponse,
    errors: ["conflict"],
    handle: async ({ ctx, params, body }) => savedJson(await updateTemplate(ctx, params.id, body)),
  }),
  withApi({
    route: "DELETE /api/templates/{id}",
    access: { scope: "templates:write" },
    summary: "Delete a template; existing email created from it is not affected",
    params: ID_OR_ALIAS,
    response: deleted("template"),
    handle: async ({ ctx, params }) => presentDeleted("template", await deleteTemplate(ctx, params.id)),
  }),
  withApi({
    route: "POST /api/templates/{id}/publish",
    access: { scope: "templates:write" },
    summary: "Publish a template's draft",
    params: ID_OR_ALIAS,
    response: changed("template"),
    handle: async ({ ctx, params }) => presentChanged("template", await publishTemplate(ctx, params.id)),
  }),
  /** Always 200: Resend clients chain `publish()` to this call. */
  withApi({
    route: "POST /api/templates/{id}/duplicate",
    access: { scope: "templates:write" },
    summary: "Duplicate a template as a draft",
    params: ID_OR_ALIAS,
    response: changed("template"),
    handle: async ({ ctx, params }) => presentChanged("template", await duplicateTemplate(ctx, params.id)),
  }),
  withApi({
    route: "POST /api/templates/{id}/preview",
    access: { scope: "templates:read" },
    summary: "Render a template with sample values",
    params: ID_OR_ALIAS,
    body: PreviewBody,
    bodyForm: "optional",
    example: { body: { variables: { NAME: "Ann" } } },
    response: PreviewResponse,
    handle: async ({ ctx, params, body }) => {
      const { template, ...rendered } = await previewTemplate(ctx, params.id, body);
      const { id, number, sender, replyTo } = template.version;
      return {
        object: "template_preview" as const,
        template_id: template.id,
        version_id: id,
        version: number,
        from: sender,
        reply_to: replyTo,
        ...rendered,
      };
    },
  }),
  withApi({
    route: "GET /api/templates/{id}/versions",
    access: { scope: "templates:read" },
    summary: "List the versions of a template, newest first",
    params: ID_OR_ALIAS,
    query: listQuery({}),
    example: { query: { limit: "20" } },
    response: listOf(VersionSummaryResponse),
    handle: async ({ ctx, params, query }) => {
      const { template, page } = await listVersions(ctx, params.id, query);
      return listJson(page, (version) => presentVersionSummary(template, version));
    },
  }),
  withApi({
    route: "GET /api/templates/{id}/versions/{version}",
    access: { scope: "templates:read" },
    summary: "Get a version of a template by id or number",
    params: VERSION,
    response: VersionResponse,
    handle: async ({ ctx, params }) => presentVersion(await getVersion(ctx, params.id, params.version)),
  }),
  withApi({
    route: "POST /api/templates/{id}/versions/{version}/publish",
    access: { scope: "templates:write" },
    summary: "Publish a version of a template; use an earlier version to roll back",
    params: VERSION,
    response: changed("template"),
    handle: async ({ ctx, params }) =>
      presentChanged("template", await publishTemplate(ctx, params.id, { version: params.version })),
  }),
];
