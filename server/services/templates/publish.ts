import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { templates } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { recordAudit } from "../audit/record";
import { isTemplate, lockTemplate, type Seen } from "./lock";
import { findTemplate, type TemplateSummary, type TemplateVersion, versionOf } from "./read";
import { findVersion } from "./versions";

/** Sends the current version live from now on. Publishing what is published already changes nothing. */
export async function publishTemplate(ctx: Ctx, idOrAlias: string, seen?: Seen): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.transaction(async (tx) => {
    const template = await lockTemplate(tx, ctx, id, seen);
    if (template.publishedVersionId === template.currentVersionId) return;
    await goLive(tx, ctx, template, await versionOf({ ...ctx, db: tx }, id, template.currentVersionId));
  });
  return { id };
}

/**
 * Sends a version live, whichever it is: to an earlier one that is rolling back. The editor shows it too from then on; a draft
 * that was there stays among the versions. Doing so with what is live already, and shown, changes nothing.
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
    await goLive(tx, ctx, template, version);
  });
  return { id };
}

async function goLive(tx: Db, ctx: Ctx, template: TemplateSummary, version: TemplateVersion): Promise<void> {
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
