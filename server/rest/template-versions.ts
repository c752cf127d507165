import { z } from "zod";
import { previewTemplate } from "#server/services/templates/preview";
import { publishVersion } from "#server/services/templates/publish";
import { getVersion, listVersions } from "#server/services/templates/versions";
import { duplicateTemplate } from "#server/services/templates/write";
import { listJson, PAGING, refuseTwoCursors } from "./query";
import { withApi } from "./route";
import { changed, listOf } from "./wire/shapes";
import {
  PreviewAnswer,
  previewJson,
  VersionAnswer,
  VersionSummaryAnswer,
  versionJson,
  versionSummaryJson,
} from "./wire/template";
import { PreviewBody } from "./wire/template-input";

const TEMPLATE = { id: "The template's id or alias." };
const VERSION = { ...TEMPLATE, version: "The id or the number of a version." };

/** Always 200: clients of the dialect chain the publishing onto it. */
export const postTemplateDuplicate = withApi(
  {
    method: "POST",
    path: "/api/templates/{id}/duplicate",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Make a draft of another template that says the same",
    params: TEMPLATE,
    answer: changed("template"),
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
    summary: "Show what a mail made with a template would say, with sample values",
    params: TEMPLATE,
    body: PreviewBody,
    bodyForm: "optional",
    example: { body: { variables: { NAME: "Ann" } } },
    answer: PreviewAnswer,
  },
  async ({ ctx, params, body }) => ({ body: previewJson(await previewTemplate(ctx, params.id ?? "", body)) }),
);

export const getTemplateVersions = withApi(
  {
    method: "GET",
    path: "/api/templates/{id}/versions",
    access: { scope: "templates:read" },
    tier: "other",
    summary: "List what a template said over time, newest first",
    params: TEMPLATE,
    query: z.strictObject(PAGING),
    example: { query: { limit: "20" } },
    answer: listOf(VersionSummaryAnswer),
  },
  async ({ ctx, params, query }) => {
    refuseTwoCursors(query);
    const { template, page } = await listVersions(ctx, params.id ?? "", query);
    return {
      body: listJson(
        page.rows.map((version) => versionSummaryJson(template, version)),
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
    summary: "Show one version of a template, by its id or its number",
    params: VERSION,
    answer: VersionAnswer,
  },
  async ({ ctx, params }) => ({
    body: versionJson(await getVersion(ctx, params.id ?? "", params.version ?? "")),
  }),
);

export const postTemplateVersionPublish = withApi(
  {
    method: "POST",
    path: "/api/templates/{id}/versions/{version}/publish",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Send a version live, which rolls back to it where it is an earlier one",
    params: VERSION,
    answer: changed("template"),
  },
  async ({ ctx, params }) => {
    const { id } = await publishVersion(ctx, params.id ?? "", params.version ?? "");
    return { body: { object: "template", id } } as const;
  },
);
