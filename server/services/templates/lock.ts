import { and, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { templates } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import type { TemplateSummary } from "./read";

/** What somebody who changes a template has read of it. */
export type Seen = { revision?: number | undefined };

/** The team's template with that id, as a condition. */
export const isTemplate = (ctx: Ctx, id: string) =>
  and(eq(templates.teamId, ctx.teamId), eq(templates.id, id));

/**
 * Holds a template until `tx` ends. Where `seen` names a revision and somebody has changed the template since it was that,
 * refuses with 409: nobody's work is overwritten unseen.
 */
export async function lockTemplate(tx: Db, ctx: Ctx, id: string, seen: Seen = {}): Promise<TemplateSummary> {
  const [template] = await tx.select().from(templates).where(isTemplate(ctx, id)).for("update");
  if (!template) throw notFound("Template");
  if (seen.revision !== undefined && seen.revision !== template.revision)
    throw new AppError("conflict", "Somebody else has changed this template since you opened it.");
  return template;
}
