import { and, eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { templates } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import type { TemplateSummary } from "./read";

/** The revision that the caller has read. */
export type Seen = { revision?: number | undefined };

/** The condition that selects the team's template by id. */
export const isTemplate = (ctx: Ctx, id: string) =>
  and(eq(templates.teamId, ctx.teamId), eq(templates.id, id));

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
