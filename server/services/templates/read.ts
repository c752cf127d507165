import { and, desc, eq, getTableColumns, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Db } from "#db/client";
import { emails } from "#db/schema/emails";
import { templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import type { Template, TemplateSummary } from "#server/shared/wire/template";
import { nameKeys } from "../keys/read";
import { type Page, type PageQuery, pageById } from "../paging";

/** The condition that selects the team's template by id. */
export const isTemplate = (ctx: Ctx, id: string) =>
  and(eq(templates.teamId, ctx.teamId), eq(templates.id, id));

/**
 * The condition that selects the team's template by id or alias. A value in the form of an id is always an
 * id.
 */
const isNamed = (ctx: Ctx, idOrAlias: string) =>
  isId(idOrAlias)
    ? isTemplate(ctx, idOrAlias)
    : and(eq(templates.teamId, ctx.teamId), eq(templates.alias, idOrAlias));

const current = alias(templateVersions, "current");
const published = alias(templateVersions, "published");
const isCurrent = and(eq(current.teamId, templates.teamId), eq(current.id, templates.currentVersionId));
const isPublished = and(
  eq(published.teamId, templates.teamId),
  eq(published.id, templates.publishedVersionId),
);

/** A template without its content. */
export async function findTemplate(ctx: Ctx, idOrAlias: string): Promise<TemplateSummary> {
  const [template] = await ctx.db.select().from(templates).where(isNamed(ctx, idOrAlias));
  if (!template) throw notFound("Template");
  return template;
}

/**
 * A template with its current version (the draft, if there is one), and the number of the published version.
 */
export async function getTemplate(
  ctx: Ctx,
  idOrAlias: string,
): Promise<Template & { publishedNumber: number | null }> {
  const [found] = await ctx.db
    .select({ template: templates, version: current, publishedNumber: published.number })
    .from(templates)
    .innerJoin(current, isCurrent)
    .leftJoin(published, isPublished)
    .where(isNamed(ctx, idOrAlias));
  if (!found) throw notFound("Template");
  const { template, ...versions } = found;
  return { ...template, ...versions };
}

/** A template with its published version, which sends use. */
export async function getPublishedTemplate(ctx: Ctx, idOrAlias: string): Promise<Template> {
  const [found] = await ctx.db
    .select({ template: templates, version: published })
    .from(templates)
    .leftJoin(published, isPublished)
    .where(isNamed(ctx, idOrAlias));
  if (!found) throw notFound("Template");
  const { template, version } = found;
  if (!version)
    throw new AppError("invalid", `Template ${idOrAlias} is not published yet. Publish it first.`);
  return { ...template, version };
}

/** A template in a list. */
export type ListedTemplate = TemplateSummary & {
  /** `currentNumber` is the version that the editor shows, `publishedNumber` the one that sends use. */
  currentNumber: number;
  publishedNumber: number | null;
  /** When the newest retained email was sent with it. */
  lastUsedAt: Date | null;
};

// One index lookup per row of the page, in the index of emails by template.
const lastUsedAt = sql`(
  select (extract(epoch from e.created_at) * 1000)::float8 from ${emails} e
  where e.team_id = ${templates.teamId} and e.template_id = ${templates.id} order by e.id desc limit 1)`.mapWith(
  (ms: number | string | null) => (ms === null ? null : new Date(Number(ms))),
);

/**
 * The team's templates, newest first; `search` filters by a part of the name or alias, case-insensitively.
 */
export async function listTemplates(
  ctx: Ctx,
  query: PageQuery & { search?: string | undefined },
): Promise<Page<ListedTemplate>> {
  const { search } = query;
  const select = () =>
    ctx.db
      .select({
        ...getTableColumns(templates),
        currentNumber: sql<number>`${current.number}`,
        publishedNumber: published.number,
        lastUsedAt,
      })
      .from(templates)
      .innerJoin(current, isCurrent)
      .leftJoin(published, isPublished)
      .$dynamic();
  // A substring match instead of a pattern, so `%` and `_` are ordinary characters.
  const isFound = (text: string) =>
    or(
      sql`strpos(lower(${templates.name}), lower(${text})) > 0`,
      sql`strpos(${templates.alias}, lower(${text})) > 0`,
    );
  return pageById(ctx, templates, query, {
    select,
    where: search === undefined ? undefined : isFound(search),
  });
}

/** The revision that the caller has read. */
export type Seen = { revision?: number | undefined };

/**
 * Locks a template until `tx` ends. Throws 409 if `seen` has a revision and the template has changed since:
 * changes of another member are not overwritten.
 */
export async function lockTemplate(tx: Db, ctx: Ctx, id: string, seen: Seen = {}): Promise<TemplateSummary> {
  const [template] = await tx.select().from(templates).where(isTemplate(ctx, id)).for("update");
  if (!template) throw notFound("Template");
  if (seen.revision !== undefined && seen.revision !== template.revision)
    throw new AppError("conflict", "This template was changed after you opened it. Reload it and try again.");
  return template;
}

/** Number of newest emails that are read to find the keys that use a template. */
const emailsReadMax = 500;

/**
 * The recent use of a template, from the newest retained emails; shown before it is deleted. `keys` are the
 * names of the keys that sent one of them, most recent first; null is a member or the operator.
 */
export async function getTemplateUse(ctx: Ctx, idOrAlias: string) {
  const { id } = await findTemplate(ctx, idOrAlias);
  const newest = ctx.db
    .select({ apiKeyId: emails.apiKeyId, createdAt: emails.createdAt })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), eq(emails.templateId, id)))
    .orderBy(desc(emails.id))
    .limit(emailsReadMax)
    .as("newest");
  const rows = await ctx.db
    .select({
      apiKeyId: newest.apiKeyId,
      lastMs: sql<number>`(extract(epoch from max(${newest.createdAt})) * 1000)::float8`.mapWith(Number),
    })
    .from(newest)
    .groupBy(newest.apiKeyId)
    .orderBy(desc(sql`max(${newest.createdAt})`));
  const names = await nameKeys(
    ctx,
    rows.flatMap(({ apiKeyId }) => apiKeyId ?? []),
  );
  const [last] = rows;
  return {
    lastUsedAt: last ? new Date(last.lastMs) : null,
    keys: rows.map(({ apiKeyId }) => (apiKeyId === null ? null : (names.get(apiKeyId) ?? null))),
  };
}
