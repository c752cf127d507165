import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { templates } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import type { TemplateSummary, TemplateVersion } from "#server/shared/wire/template";
import { recordAudit } from "../audit/record";
import { findTemplate, isTemplate, lockTemplate, type Seen } from "./read";
import { findVersion } from "./versions";

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
