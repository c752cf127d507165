import { z } from "zod";
import { previewTemplate } from "#server/services/templates/preview";
import { publishTemplate } from "#server/services/templates/publish";
import { getVersion, listVersions } from "#server/services/templates/versions";
import { duplicateTemplate } from "#server/services/templates/write";
import { changed, Id, listOf } from "#server/shared/wire/shapes";
import {
  presentVersion,
  presentVersionSummary,
  VersionResponse,
  VersionSummaryResponse,
} from "#server/shared/wire/template";
import { listJson, PAGING, rejectTwoCursors } from "../pipeline/query";
import { withApi } from "../pipeline/route";
import { PreviewBody } from "../wire/template-input";

const TEMPLATE = { id: "The template's id or alias." };
const VERSION = { ...TEMPLATE, version: "The id or number of a version." };

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

/** Always 200: Resend clients chain `publish()` to this call. */
export const postTemplateDuplicate = withApi(
  {
    method: "POST",
    path: "/api/templates/{id}/duplicate",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Duplicate a template as a draft",
    params: TEMPLATE,
    response: changed("template"),
  },
  async ({ ctx, params }) => {
    const { id } = await duplicateTemplate(ctx, params.id ?? "");
    return { body: { object: "template", id } } as const;
  },
);

export const postTemplatePreview = withApi(
  {
    method: "POST",
    path: "/api/templates/{id}/preview",
    access: { scope: "templates:read" },
    tier: "other",
    summary: "Render a template with sample values",
    params: TEMPLATE,
    body: PreviewBody,
    bodyForm: "optional",
    example: { body: { variables: { NAME: "Ann" } } },
    response: PreviewResponse,
  },
  async ({ ctx, params, body }) => {
    const { template, ...rendered } = await previewTemplate(ctx, params.id ?? "", body);
    const { id, number, sender, replyTo } = template.version;
    return {
      body: {
        object: "template_preview" as const,
        template_id: template.id,
        version_id: id,
        version: number,
        from: sender,
        reply_to: replyTo,
        ...rendered,
      },
    };
  },
);

export const getTemplateVersions = withApi(
  {
    method: "GET",
    path: "/api/templates/{id}/versions",
    access: { scope: "templates:read" },
    tier: "other",
    summary: "List the versions of a template, newest first",
    params: TEMPLATE,
    query: z.strictObject(PAGING),
    example: { query: { limit: "20" } },
    response: listOf(VersionSummaryResponse),
  },
  async ({ ctx, params, query }) => {
    rejectTwoCursors(query);
    const { template, page } = await listVersions(ctx, params.id ?? "", query);
    return {
      body: listJson(
        page.rows.map((version) => presentVersionSummary(template, version)),
        page.hasMore,
      ),
    };
  },
);

export const getTemplateVersion = withApi(
  {
    method: "GET",
    path: "/api/templates/{id}/versions/{version}",
    access: { scope: "templates:read" },
    tier: "other",
    summary: "Get a version of a template by id or number",
    params: VERSION,
    response: VersionResponse,
  },
  async ({ ctx, params }) => ({
    body: presentVersion(await getVersion(ctx, params.id ?? "", params.version ?? "")),
  }),
);

export const postTemplateVersionPublish = withApi(
  {
    method: "POST",
    path: "/api/templates/{id}/versions/{version}/publish",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Publish a version of a template; use an earlier version to roll back",
    params: VERSION,
    response: changed("template"),
  },
  async ({ ctx, params }) => {
    const { id } = await publishTemplate(ctx, params.id ?? "", { version: params.version ?? "" });
    return { body: { object: "template", id } } as const;
  },
);
