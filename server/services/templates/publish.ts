import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { templates } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { recordAudit } from "../audit/record";
import { isTemplate, lockTemplate, type Seen } from "./lock";
import { findTemplate, type TemplateSummary, type TemplateVersion, versionOf } from "./read";
import { findVersion } from "./versions";

/**
 * Publishes the current version: sends use it from now on. Publishing a published version changes nothing.
 */
export async function publishTemplate(ctx: Ctx, idOrAlias: string, seen?: Seen): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.transaction(async (tx) => {
    const template = await lockTemplate(tx, ctx, id, seen);
    if (template.publishedVersionId === template.currentVersionId) return;
    await publish(tx, ctx, template, await versionOf({ ...ctx, db: tx }, id, template.currentVersionId));
  });
  return { id };
}

/**
 * Publishes any version; publishing an earlier one is a rollback. It also becomes the current version in the
 * editor, and an existing draft stays in the version list. If the version is already published and current,
 * nothing changes.
 */
export async function publishVersion(
  ctx: Ctx,
  idOrAlias: string,
  idOrNumber: string,
  seen?: Seen,
): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.transaction(async (tx) => {
    const template = await lockTemplate(tx, ctx, id, seen);
    const version = await findVersion({ ...ctx, db: tx }, id, idOrNumber);
    if (version.id === template.publishedVersionId && version.id === template.currentVersionId) return;
    await publish(tx, ctx, template, version);
  });
  return { id };
}

async function publish(tx: Db, ctx: Ctx, template: TemplateSummary, version: TemplateVersion): Promise<void> {
  const { id, name, publishedVersionId } = template;
  const before =
    publishedVersionId === null ? null : (await versionOf({ ...ctx, db: tx }, id, publishedVersionId)).number;
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
