import { and, desc, eq, gt, lt } from "drizzle-orm";
import { templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { type Page, type PageQuery, pageOf, requireCursor } from "../paging";

export type TemplateSummary = typeof templates.$inferSelect;
export type TemplateVersion = typeof templateVersions.$inferSelect;
export type Template = TemplateSummary & { version: TemplateVersion };

/** A template without its content, by id or alias. A value in the form of an id is always an id. */
export async function findTemplate(ctx: Ctx, idOrAlias: string): Promise<TemplateSummary> {
  const [template] = await ctx.db
    .select()
    .from(templates)
    .where(
      and(
        eq(templates.teamId, ctx.teamId),
        isId(idOrAlias) ? eq(templates.id, idOrAlias) : eq(templates.alias, idOrAlias),
      ),
    );
  if (!template) throw notFound("Template");
  return template;
}

/** A template with its current version: the draft, if there is one. */
export async function getTemplate(ctx: Ctx, idOrAlias: string): Promise<Template> {
  const template = await findTemplate(ctx, idOrAlias);
  return { ...template, version: await versionOf(ctx, template.id, template.currentVersionId) };
}

/** A template with its published version, which sends use. */
export async function getPublishedTemplate(ctx: Ctx, idOrAlias: string): Promise<Template> {
  const template = await findTemplate(ctx, idOrAlias);
  if (!template.publishedVersionId)
    throw new AppError("invalid", `Template ${idOrAlias} is not published yet. Publish it first.`);
  return { ...template, version: await versionOf(ctx, template.id, template.publishedVersionId) };
}

/** One version by its id. The version pointers of a template always refer to existing versions. */
export async function versionOf(ctx: Ctx, templateId: string, versionId: string): Promise<TemplateVersion> {
  const [version] = await ctx.db
    .select()
    .from(templateVersions)
    .where(
      and(
        eq(templateVersions.teamId, ctx.teamId),
        eq(templateVersions.templateId, templateId),
        eq(templateVersions.id, versionId),
      ),
    );
  if (!version) throw notFound("Template");
  return version;
}

/** The team's templates, newest first. */
export async function listTemplates(ctx: Ctx, query: PageQuery): Promise<Page<TemplateSummary>> {
  await requireCursor(ctx, templates, query);
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(templates)
      .where(
        and(
          eq(templates.teamId, ctx.teamId),
          cursor &&
            (cursor.direction === "older" ? lt(templates.id, cursor.id) : gt(templates.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(templates.id) : templates.id)
      .limit(limit),
  );
}
