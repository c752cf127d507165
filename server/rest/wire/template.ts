import { z } from "zod";
import type { Preview } from "#server/services/templates/preview";
import type { Template, TemplateSummary, TemplateVersion } from "#server/services/templates/read";
import { stateOf, VERSION_STATES, type VersionSummary } from "#server/services/templates/versions";
import { Id, Time } from "#server/shared/wire/shapes";

export const TemplateSummaryResponse = z
  .object({
    id: Id,
    name: z.string(),
    alias: z.string().nullable(),
    status: z.enum(["draft", "published"]),
    published_at: Time.nullable(),
    created_at: Time,
    updated_at: Time,
  })
  .meta({ id: "TemplateSummary" });

const ContentResponse = z.object({
  subject: z.string().nullable(),
  from: z.string().nullable(),
  reply_to: z.array(z.string()).nullable(),
  html: z.string(),
  text: z.string().nullable(),
  variables: z.array(
    z.object({
      key: z.string(),
      type: z.enum(["string", "number"]),
      fallback_value: z.union([z.string(), z.number()]).nullable(),
      created_at: Time,
      updated_at: Time,
    }),
  ),
});

export const TemplateResponse = z
  .object({
    object: z.literal("template"),
    ...TemplateSummaryResponse.shape,
    ...ContentResponse.shape,
    has_unpublished_versions: z.boolean(),
    current_version_id: Id.describe("The version in this response: the draft if there is one."),
    published_version_id: Id.nullable().describe("The version used to send email."),
  })
  .meta({ id: "Template" });

export const VersionSummaryResponse = z
  .object({
    id: Id,
    number: z.int(),
    status: z.enum(VERSION_STATES),
    subject: z.string().nullable(),
    created_at: Time,
  })
  .meta({ id: "TemplateVersionSummary" });

export const VersionResponse = z
  .object({
    object: z.literal("template_version"),
    ...VersionSummaryResponse.shape,
    template_id: Id,
    ...ContentResponse.shape,
  })
  .meta({ id: "TemplateVersion" });

export const PreviewResponse = z
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

/** A template without its content, as in lists. */
export function templateSummaryJson(template: TemplateSummary): z.infer<typeof TemplateSummaryResponse> {
  return {
    id: template.id,
    name: template.name,
    alias: template.alias,
    status: template.publishedVersionId === null ? "draft" : "published",
    published_at: template.publishedAt?.toISOString() ?? null,
    created_at: template.createdAt.toISOString(),
    updated_at: template.updatedAt.toISOString(),
  };
}

/** A template with the content of its current version: the draft if one is newer than the published version. */
export function templateJson(template: Template): z.infer<typeof TemplateResponse> {
  const { version } = template;
  return {
    object: "template",
    ...templateSummaryJson(template),
    ...contentJson(version),
    has_unpublished_versions: template.currentVersionId !== template.publishedVersionId,
    current_version_id: template.currentVersionId,
    published_version_id: template.publishedVersionId,
  };
}

function contentJson(version: TemplateVersion): z.infer<typeof ContentResponse> {
  const time = version.createdAt.toISOString();
  return {
    subject: version.subject,
    from: version.sender,
    reply_to: version.replyTo,
    html: version.html,
    text: version.text,
    variables: version.variables.map(({ key, type, fallbackValue }) => ({
      key,
      type,
      fallback_value: fallbackValue,
      created_at: time,
      updated_at: time,
    })),
  };
}

/** A version without its content, as in lists. */
export function versionSummaryJson(
  template: TemplateSummary,
  version: VersionSummary,
): z.infer<typeof VersionSummaryResponse> {
  return {
    id: version.id,
    number: version.number,
    status: stateOf(template, version.id),
    subject: version.subject,
    created_at: version.createdAt.toISOString(),
  };
}

/** A version with its content. */
export function versionJson(template: Template): z.infer<typeof VersionResponse> {
  const { version } = template;
  return {
    object: "template_version",
    ...versionSummaryJson(template, version),
    template_id: template.id,
    ...contentJson(version),
  };
}

/** A rendered template. */
export function previewJson({ template, subject, html, text }: Preview): z.infer<typeof PreviewResponse> {
  const { version } = template;
  return {
    object: "template_preview",
    template_id: template.id,
    version_id: version.id,
    version: version.number,
    from: version.sender,
    reply_to: version.replyTo,
    subject,
    html,
    text,
  };
}
