import type { Template, TemplateSummary } from "#server/services/templates/read";

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
  const versionTime = version.createdAt.toISOString();
  return {
    object: "template",
    ...templateSummaryJson(template),
    subject: version.subject,
    from: version.sender,
    reply_to: version.replyTo,
    html: version.html,
    text: version.text,
    has_unpublished_versions: template.currentVersionId !== template.publishedVersionId,
    current_version_id: template.currentVersionId,
    published_version_id: template.publishedVersionId,
    variables: version.variables.map(({ key, type, fallbackValue }) => ({
      key,
      type,
      fallback_value: fallbackValue,
      created_at: versionTime,
      updated_at: versionTime,
    })),
  };
}
