import type { Preview } from "#server/services/templates/preview";
import type { Template, TemplateSummary, TemplateVersion } from "#server/services/templates/read";
import { stateOf } from "#server/services/templates/versions";

/** A template without its content, as lists show it. */
export function templateSummaryJson(template: TemplateSummary) {
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

/** A template with the content of its current version: the draft, where there is one newer than what sends use. */
export function templateJson(template: Template) {
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

function contentJson(version: TemplateVersion) {
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

/** A version without its content, as lists show it. */
export function versionSummaryJson(template: TemplateSummary, version: TemplateVersion) {
  return {
    id: version.id,
    number: version.number,
    status: stateOf(template, version.id),
    subject: version.subject,
    created_at: version.createdAt.toISOString(),
  };
}

/** A version whole. */
export function versionJson(template: Template) {
  const { version } = template;
  return {
    object: "template_version",
    ...versionSummaryJson(template, version),
    template_id: template.id,
    ...contentJson(version),
  };
}

/** What a mail would say. */
export function previewJson({ template, subject, html, text }: Preview) {
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
