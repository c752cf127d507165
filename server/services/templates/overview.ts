import { and, desc, eq, gt, lt, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { emails } from "#db/schema/emails";
import { templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { nameKeys } from "../keys/read";
import { type Page, type PageQuery, pageOf, requireCursor } from "../paging";
import { findTemplate, getTemplate, type Template, type TemplateSummary, versionOf } from "./read";

/** A row of the template list. */
export type TemplateLine = TemplateSummary & {
  /** `currentNumber` is the version that the editor shows, `publishedNumber` the one that sends use. */
  currentNumber: number;
  publishedNumber: number | null;
  /** When the newest retained email was sent with it. */
  lastUsedAt: Date | null;
};

/** Number of newest emails that are read to find the keys that use a template. */
const emailsReadMax = 500;

// One index lookup per row of the page, in the index of emails by template.
const lastUsedAt = sql`(
  select (extract(epoch from e.created_at) * 1000)::float8 from ${emails} e
  where e.team_id = ${templates.teamId} and e.template_id = ${templates.id} order by e.id desc limit 1)`.mapWith(
  (ms: number | string | null) => (ms === null ? null : new Date(Number(ms))),
);

/**
 * The team's templates, newest first; `search` filters by a part of the name or alias, case-insensitively.
 */
export async function searchTemplates(
  ctx: Ctx,
  query: PageQuery & { search?: string | undefined },
): Promise<Page<TemplateLine>> {
  const current = alias(templateVersions, "current");
  const published = alias(templateVersions, "published");
  const { search } = query;
  await requireCursor(ctx, templates, query);
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select({
        template: templates,
        currentNumber: current.number,
        publishedNumber: published.number,
        lastUsedAt,
      })
      .from(templates)
      .innerJoin(
        current,
        and(eq(current.teamId, templates.teamId), eq(current.id, templates.currentVersionId)),
      )
      .leftJoin(
        published,
        and(eq(published.teamId, templates.teamId), eq(published.id, templates.publishedVersionId)),
      )
      .where(
        and(
          eq(templates.teamId, ctx.teamId),
          // A substring match instead of a pattern, so `%` and `_` are ordinary characters.
          search === undefined
            ? undefined
            : or(
                sql`strpos(lower(${templates.name}), lower(${search})) > 0`,
                sql`strpos(${templates.alias}, lower(${search})) > 0`,
              ),
          cursor &&
            (cursor.direction === "older" ? lt(templates.id, cursor.id) : gt(templates.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(templates.id) : templates.id)
      .limit(limit)
      .then((rows) => rows.map(({ template, ...more }) => ({ ...template, ...more }))),
  );
}

/** A template with its current version, and the number of its published version. */
export async function getTemplateForEditor(
  ctx: Ctx,
  idOrAlias: string,
): Promise<Template & { publishedNumber: number | null }> {
  const template = await getTemplate(ctx, idOrAlias);
  const { id, version, publishedVersionId } = template;
  const published =
    publishedVersionId === null || publishedVersionId === version.id
      ? version
      : await versionOf(ctx, id, publishedVersionId);
  return { ...template, publishedNumber: publishedVersionId === null ? null : published.number };
}

/** Who sends with a template, from the newest retained emails. */
export type TemplateUse = {
  lastUsedAt: Date | null;
  /** Names of the keys that sent one of them, most recent first; null is a member or the operator. */
  keys: (string | null)[];
};

/** The recent use of a template, shown before it is deleted. */
export async function readTemplateUse(ctx: Ctx, idOrAlias: string): Promise<TemplateUse> {
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
