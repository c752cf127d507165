import { and, desc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { type AuditActor, auditLog } from "#db/schema/audit";
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
import type { AuditAction } from "../audit/actions";
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
  const page = await pageById(ctx, templateVersions, query, {
    select: () => ctx.db.select({ id, number, subject, createdAt }).from(templateVersions).$dynamic(),
    within: eq(templateVersions.templateId, template.id),
  });
  return { template, page };
}

/**
 * When a version was last published, and by whom: `name` is the address of the user or the name of the key at
 * that time.
 */
export type Publication = { at: Date; actor: AuditActor; name: string | null };

/**
 * The last publication of these versions, by number. From the audit log: what it no longer contains is
 * absent. A template that was created as published has its first version published by that.
 */
export async function findPublications(
  ctx: Ctx,
  templateId: string,
  numbers: readonly number[],
): Promise<Map<number, Publication>> {
  if (numbers.length === 0) return new Map();
  const number = sql<number>`case ${auditLog.action} when 'template.created' then 1
    when 'template.published' then (${auditLog.detail} ->> 'version')::int
    when 'template.rolled_back' then (${auditLog.detail} ->> 'version')::int end`;
  const rows = await ctx.db
    .selectDistinctOn([number], {
      number: number.mapWith(Number),
      at: auditLog.createdAt,
      actor: auditLog.actor,
      name: auditLog.actorName,
    })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.teamId, ctx.teamId),
        inArray(auditLog.action, PUBLISHING),
        eq(auditLog.subjectId, templateId),
        sql`(${auditLog.action} <> 'template.created' or ${auditLog.detail} -> 'published' = 'true'::jsonb)`,
        inArray(number, [...numbers]),
      ),
    )
    .orderBy(number, desc(auditLog.id));
  return new Map(rows.map(({ number, ...publication }) => [number, publication]));
}

const PUBLISHING: AuditAction[] = ["template.published", "template.rolled_back", "template.created"];

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
 * Publishes a version, by default the current one: sends use it from now on. An earlier version is a
 * rollback. It also becomes the current version in the editor, and an existing draft stays in the version
 * list. If the version is already published and current, nothing changes.
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
