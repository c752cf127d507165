import { z } from "zod";
import { publishTemplate } from "#server/services/templates/publish";
import { getTemplate, listTemplates } from "#server/services/templates/read";
import { createTemplate, deleteTemplate, updateTemplate } from "#server/services/templates/write";
import { changed, deleted, listOf } from "#server/shared/wire/shapes";
import {
  presentTemplate,
  presentTemplateSummary,
  TemplateResponse,
  TemplateSummaryResponse,
} from "#server/shared/wire/template";
import { listJson, PAGING, rejectTwoCursors } from "../pipeline/query";
import { withApi } from "../pipeline/route";
import { CreateTemplateBody, UpdateTemplateBody } from "../wire/template-input";

const ID_OR_ALIAS = { id: "The template's id or alias." };

const savedJson = ({ id, warnings }: { id: string; warnings: string[] }) =>
  ({ body: { object: "template", id, ...(warnings.length > 0 && { warnings }) } }) as const;

const SavedResponse = changed("template").extend({
  warnings: z
    .array(z.string())
    .optional()
    .describe("Tags of other template languages in the content. They are sent as plain text."),
});

/** The new template is published, so it can be used immediately. */
export const postTemplate = withApi(
  {
    method: "POST",
    path: "/api/templates",
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
  },
  async ({ ctx, body }) => savedJson(await createTemplate(ctx, body)),
);

export const getTemplates = withApi(
  {
    method: "GET",
    path: "/api/templates",
    access: { scope: "templates:read" },
    tier: "other",
    summary: "List templates, newest first",
    query: z.strictObject(PAGING),
    example: { query: { limit: "20" } },
    response: listOf(TemplateSummaryResponse),
  },
  async ({ ctx, query }) => {
    rejectTwoCursors(query);
    const { rows, hasMore } = await listTemplates(ctx, query);
    return { body: listJson(rows.map(presentTemplateSummary), hasMore) };
  },
);

export const getOneTemplate = withApi(
  {
    method: "GET",
    path: "/api/templates/{id}",
    access: { scope: "templates:read" },
    tier: "other",
    summary: "Get a template by id or alias; returns the draft if there is one",
    params: ID_OR_ALIAS,
    response: TemplateResponse,
  },
  async ({ ctx, params }) => ({ body: presentTemplate(await getTemplate(ctx, params.id ?? "")) }),
);

export const patchTemplate = withApi(
  {
    method: "PATCH",
    path: "/api/templates/{id}",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Update a template's draft; sends use the published version until the next publish",
    params: ID_OR_ALIAS,
    body: UpdateTemplateBody,
    example: { body: { subject: "Welcome aboard" } },
    response: SavedResponse,
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => savedJson(await updateTemplate(ctx, params.id ?? "", body)),
);

export const deleteOneTemplate = withApi(
  {
    method: "DELETE",
    path: "/api/templates/{id}",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Delete a template; existing email created from it is not affected",
    params: ID_OR_ALIAS,
    response: deleted("template"),
  },
  async ({ ctx, params }) => {
    const { id } = await deleteTemplate(ctx, params.id ?? "");
    return { body: { object: "template", id, deleted: true } } as const;
  },
);

export const postTemplatePublish = withApi(
  {
    method: "POST",
    path: "/api/templates/{id}/publish",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Publish a template's draft",
    params: ID_OR_ALIAS,
    response: changed("template"),
  },
  async ({ ctx, params }) => {
    const { id } = await publishTemplate(ctx, params.id ?? "");
    return { body: { object: "template", id } } as const;
  },
);
