import { and, desc, eq, gt, lt, sql } from "drizzle-orm";
import { templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";
import { type Page, type PageQuery, pageOf } from "../paging";
import { findTemplate, type Template, type TemplateVersion } from "./read";

const NUMBER = /^[1-9]\d{0,8}$/;

export const VERSION_STATES = ["published", "draft", "archived"] as const;
/** A version in the state in which its template has it. */
export type VersionState = (typeof VERSION_STATES)[number];

/** What sends use is published; what the editor shows beside it is the draft; everything else is history. */
export function stateOf(
  template: Pick<Template, "currentVersionId" | "publishedVersionId">,
  id: string,
): VersionState {
  if (id === template.publishedVersionId) return "published";
  return id === template.currentVersionId ? "draft" : "archived";
}

/** A template's versions, newest first. */
export async function listVersions(
  ctx: Ctx,
  idOrAlias: string,
  query: PageQuery,
): Promise<{ template: Awaited<ReturnType<typeof findTemplate>>; page: Page<TemplateVersion> }> {
  const template = await findTemplate(ctx, idOrAlias);
  const page = await pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
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

/** A template with one of its versions, named by its id or its number. */
export async function getVersion(ctx: Ctx, idOrAlias: string, idOrNumber: string): Promise<Template> {
  const template = await findTemplate(ctx, idOrAlias);
  return { ...template, version: await findVersion(ctx, template.id, idOrNumber) };
}

/**
 * Sends a version live, whichever it is: to an earlier one that is rolling back. The editor shows it too from then on; a draft
 * that was there stays among the versions. Doing so with what is live already, and shown, changes nothing.
 */
export async function publishVersion(
  ctx: Ctx,
  idOrAlias: string,
  idOrNumber: string,
): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.transaction(async (tx) => {
    const mine = and(eq(templates.teamId, ctx.teamId), eq(templates.id, id));
    const [template] = await tx.select().from(templates).where(mine).for("update");
    if (!template) throw notFound("Template");
    const version = await findVersion({ ...ctx, db: tx }, id, idOrNumber);
    if (version.id === template.publishedVersionId && version.id === template.currentVersionId) return;
    await tx
      .update(templates)
      .set({
        currentVersionId: version.id,
        publishedVersionId: version.id,
        publishedAt: sql`now()`,
        updatedAt: sql`now()`,
      })
      .where(mine);
  });
  return { id };
}

async function findVersion(ctx: Ctx, templateId: string, idOrNumber: string): Promise<TemplateVersion> {
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
