import type { TemplateLine, TemplateUse } from "#server/services/templates/overview";
import type { Template, TemplateVersion } from "#server/services/templates/read";
import { stateOf, type VersionSummary } from "#server/services/templates/versions";

/** A row of the template list. Times are ISO 8601. */
export function viewTemplateRow(template: TemplateLine) {
  const { id, name, alias, currentNumber, publishedNumber, updatedAt, lastUsedAt } = template;
  return {
    id,
    name,
    alias,
    /** The version that the editor shows; newer than the published one if there is a draft. */
    currentNumber,
    publishedNumber,
    updatedAt: updatedAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}
export type TemplateRow = ReturnType<typeof viewTemplateRow>;

/** The content of a version. */
export function viewContent({ subject, html, text, sender, replyTo, variables }: TemplateVersion) {
  return { subject, html, text, from: sender, replyTo, variables };
}
export type TemplateContentView = ReturnType<typeof viewContent>;

/** A template with its current version. A save must include `revision`. */
export function viewTemplate(template: Template & { publishedNumber: number | null }) {
  const { id, name, alias, revision, publishedNumber, updatedAt, publishedAt, version } = template;
  return {
    id,
    name,
    alias,
    revision,
    number: version.number,
    publishedNumber,
    updatedAt: updatedAt.toISOString(),
    publishedAt: publishedAt?.toISOString() ?? null,
    content: viewContent(version),
  };
}
export type TemplateView = ReturnType<typeof viewTemplate>;

/** A row of the version history. */
export function viewVersionRow(
  template: Pick<Template, "currentVersionId" | "publishedVersionId">,
  { id, number, subject, createdAt }: VersionSummary,
) {
  return { id, number, subject, state: stateOf(template, id), createdAt: createdAt.toISOString() };
}
export type VersionRow = ReturnType<typeof viewVersionRow>;

/** Who sends with a template. */
export const viewUse = ({ lastUsedAt, keys }: TemplateUse) => ({
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  keys,
});
