import { z } from "zod";
import type { templates, templateVersions } from "#db/schema/templates";
import { VARIABLE_TYPES } from "../template-variables";
import { Id, present, Time } from "./shapes";

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

const Content = z.object({
  subject: z.string().nullable(),
  from: z.string().nullable(),
  reply_to: z.array(z.string()).nullable(),
  html: z.string(),
  text: z.string().nullable(),
  variables: z.array(
    z.object({
      key: z.string(),
      type: z.enum(VARIABLE_TYPES),
      fallback_value: z
        .union([z.string(), z.number(), z.array(z.unknown()), z.record(z.string(), z.unknown())])
        .nullable(),
      created_at: Time,
      updated_at: Time,
    }),
  ),
});

type Fallback = z.infer<typeof Content>["variables"][number]["fallback_value"];

export const TemplateResponse = z
  .object({
    object: z.literal("template"),
    ...TemplateSummaryResponse.shape,
    ...Content.shape,
    has_unpublished_versions: z.boolean(),
    current_version_id: Id.describe("The version in this response: the draft if there is one."),
    published_version_id: Id.nullable().describe("The version used to send email."),
  })
  .meta({ id: "Template" });

const VERSION_STATES = ["published", "draft", "archived"] as const;

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
    ...Content.shape,
  })
  .meta({ id: "TemplateVersion" });

export type TemplateSummary = typeof templates.$inferSelect;
export type TemplateVersion = typeof templateVersions.$inferSelect;
/** A template with one of its versions. */
export type Template = TemplateSummary & { version: TemplateVersion };
/** A version without its content, which may be 1 MB. */
export type VersionSummary = Pick<TemplateVersion, "id" | "number" | "subject" | "createdAt">;

/** A template without its content, as in lists. */
export const presentTemplateSummary = (template: TemplateSummary) =>
  present(TemplateSummaryResponse, template, {
    status: template.publishedVersionId === null ? "draft" : "published",
  });

/**
 * A template with the content of its current version: the draft if one is newer than the published version.
 */
export const presentTemplate = (template: Template) =>
  present(TemplateResponse, template, {
    object: "template",
    ...presentTemplateSummary(template),
    ...presentContent(template.version),
    has_unpublished_versions: template.currentVersionId !== template.publishedVersionId,
  });

function presentContent(version: TemplateVersion): z.infer<typeof Content> {
  const time = version.createdAt.toISOString();
  return present(Content, version, {
    from: version.sender,
    variables: version.variables.map(({ key, type, fallbackValue }) => ({
      key,
      type,
      // A list or an object as it was declared: its values have been validated.
      fallback_value: fallbackValue as Fallback,
      created_at: time,
      updated_at: time,
    })),
  });
}

/**
 * A version without its content, as in lists. `published` is what sends use, `draft` is what the editor shows
 * if it is newer, everything else is `archived`.
 */
export const presentVersionSummary = (template: TemplateSummary, version: VersionSummary) =>
  present(VersionSummaryResponse, version, {
    status:
      version.id === template.publishedVersionId
        ? "published"
        : version.id === template.currentVersionId
          ? "draft"
          : "archived",
  });

/** A version with its content. */
export const presentVersion = (template: Template): z.infer<typeof VersionResponse> => ({
  object: "template_version",
  ...presentVersionSummary(template, template.version),
  template_id: template.id,
  ...presentContent(template.version),
});
