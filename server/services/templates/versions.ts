import { and, desc, eq, gt, lt } from "drizzle-orm";
import { templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import type {
  Template,
  TemplateSummary,
  TemplateVersion,
  VersionSummary,
} from "#server/shared/wire/template";
import { type Page, type PageQuery, pageOf, requireCursor } from "../paging";
import { findTemplate } from "./read";

const NUMBER = /^[1-9]\d{0,8}$/;

/** A template's versions, newest first. */
export async function listVersions(
  ctx: Ctx,
  idOrAlias: string,
  query: PageQuery,
): Promise<{ template: TemplateSummary; page: Page<VersionSummary> }> {
  const template = await findTemplate(ctx, idOrAlias);
  await requireCursor(ctx, templateVersions, query, eq(templateVersions.templateId, template.id));
  const page = await pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select({
        id: templateVersions.id,
        number: templateVersions.number,
        subject: templateVersions.subject,
        createdAt: templateVersions.createdAt,
      })
      .from(templateVersions)
      .where(
        and(
          eq(templateVersions.teamId, ctx.teamId),
          eq(templateVersions.templateId, template.id),
          cursor &&
            (cursor.direction === "older"
              ? lt(templateVersions.id, cursor.id)
              : gt(templateVersions.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(templateVersions.id) : templateVersions.id)
      .limit(limit),
  );
  return { template, page };
}

/** A template with one of its versions, found by id or number. */
export async function getVersion(ctx: Ctx, idOrAlias: string, idOrNumber: string): Promise<Template> {
  const template = await findTemplate(ctx, idOrAlias);
  return { ...template, version: await findVersion(ctx, template.id, idOrNumber) };
}

/** One version of a template, found by id or number. */
export async function findVersion(
  ctx: Ctx,
  templateId: string,
  idOrNumber: string,
): Promise<TemplateVersion> {
  const name = isId(idOrNumber)
    ? eq(templateVersions.id, idOrNumber)
    : NUMBER.test(idOrNumber)
      ? eq(templateVersions.number, Number(idOrNumber))
      : null;
  if (!name) throw notFound("Template version");
  const [version] = await ctx.db
    .select()
    .from(templateVersions)
    .where(and(eq(templateVersions.teamId, ctx.teamId), eq(templateVersions.templateId, templateId), name));
  if (!version) throw notFound("Template version");
  return version;
}
