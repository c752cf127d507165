import { z } from "zod";
import { publishTemplate } from "#server/services/templates/publish";
import { getTemplate, listTemplates } from "#server/services/templates/read";
import { createTemplate, deleteTemplate, updateTemplate } from "#server/services/templates/write";
import { listJson, PAGING, refuseTwoCursors } from "./query";
import { withApi } from "./route";
import { changed, deleted, listOf } from "./wire/shapes";
import { TemplateAnswer, TemplateSummaryAnswer, templateJson, templateSummaryJson } from "./wire/template";
import { CreateTemplateBody, UpdateTemplateBody } from "./wire/template-input";

const ID_OR_ALIAS = { id: "The template's id or alias." };

const changedJson = ({ id }: { id: string }) => ({ body: { object: "template", id } }) as const;

/** What it makes is published and can be sent with at once. */
export const postTemplate = withApi(
  {
    method: "POST",
    path: "/api/templates",
    access: { scope: "templates:write" },
    tier: "POST /api/templates",
    summary: "Create a template, published at once",
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
    answer: changed("template"),
    errors: ["conflict"],
  },
  async ({ ctx, body }) => changedJson(await createTemplate(ctx, body)),
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
    answer: listOf(TemplateSummaryAnswer),
  },
  async ({ ctx, query }) => {
    refuseTwoCursors(query);
    const { rows, hasMore } = await listTemplates(ctx, query);
    return { body: listJson(rows.map(templateSummaryJson), hasMore) };
  },
);

export const getOneTemplate = withApi(
  {
    method: "GET",
    path: "/api/templates/{id}",
    access: { scope: "templates:read" },
    tier: "other",
    summary: "Show a template by its id or alias, the draft where there is one",
    params: ID_OR_ALIAS,
    answer: TemplateAnswer,
  },
  async ({ ctx, params }) => ({ body: templateJson(await getTemplate(ctx, params.id ?? "")) }),
);

export const patchTemplate = withApi(
  {
    method: "PATCH",
    path: "/api/templates/{id}",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Change a template's draft; what is published keeps sending until the next publish",
    params: ID_OR_ALIAS,
    body: UpdateTemplateBody,
    example: { body: { subject: "Welcome aboard" } },
    answer: changed("template"),
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => changedJson(await updateTemplate(ctx, params.id ?? "", body)),
);

export const deleteOneTemplate = withApi(
  {
    method: "DELETE",
    path: "/api/templates/{id}",
    access: { scope: "templates:write" },
    tier: "other",
    summary: "Delete a template; mail made with it stays as it is",
    params: ID_OR_ALIAS,
    answer: deleted("template"),
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
    summary: "Send a template's draft live",
    params: ID_OR_ALIAS,
    answer: changed("template"),
  },
  async ({ ctx, params }) => changedJson(await publishTemplate(ctx, params.id ?? "")),
);
