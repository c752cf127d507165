import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import type {
  Template,
  TemplateSummary,
  TemplateVersion,
  VersionSummary,
} from "#server/shared/wire/template";
import { recordAudit } from "../audit/record";
import { type Page, type PageQuery, pageById } from "../paging";
import { findTemplate, isTemplate, lockTemplate, type Seen } from "./read";

const NUMBER = /^[1-9]\d{0,8}$/;

/** A template's versions, newest first. */
export async function listVersions(
  ctx: Ctx,
  idOrAlias: string,
  query: PageQuery,
): Promise<{ template: TemplateSummary; page: Page<VersionSummary> }> {
  const template = await findTemplate(ctx, idOrAlias);
  const { id, number, subject, createdAt } = getTableColumns(templateVersions);
  const page = await pageById(
    ctx,
    templateVersions,
    query,
    (where, order, limit) =>
      ctx.db
        .select({ id, number, subject, createdAt })
        .from(templateVersions)
        .where(where)
        .orderBy(order)
        .limit(limit),
    eq(templateVersions.templateId, template.id),
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

/**
 * Publishes a version, by default the current one: sends use it from now on. An earlier version is a rollback.
 * It also becomes the current version in the editor, and an existing draft stays in the version list. If the
 * version is already published and current, nothing changes.
 */
export async function publishTemplate(
  ctx: Ctx,
  idOrAlias: string,
  { version: idOrNumber, ...seen }: Seen & { version?: string } = {},
): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.transaction(async (tx) => {
    const template = await lockTemplate(tx, ctx, id, seen);
    const version = await findVersion({ ...ctx, db: tx }, id, idOrNumber ?? template.currentVersionId);
    if (version.id === template.publishedVersionId && version.id === template.currentVersionId) return;
    await publish(tx, ctx, template, version);
  });
  return { id };
}

async function publish(tx: Db, ctx: Ctx, template: TemplateSummary, version: TemplateVersion): Promise<void> {
  const { id, name, publishedVersionId } = template;
  const before =
    publishedVersionId === null
      ? null
      : (await findVersion({ ...ctx, db: tx }, id, publishedVersionId)).number;
  await tx
    .update(templates)
    .set({
      currentVersionId: version.id,
      publishedVersionId: version.id,
      publishedAt: sql`now()`,
      updatedAt: sql`now()`,
      revision: sql`${templates.revision} + 1`,
    })
    .where(isTemplate(ctx, id));
  await recordAudit(tx, ctx, {
    action: before !== null && version.number < before ? "template.rolled_back" : "template.published",
    subject: { id, name },
    detail: { version: version.number, before },
  });
}
