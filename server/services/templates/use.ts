import { and, desc, eq, sql } from "drizzle-orm";
import { emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { nameKeys } from "../keys/read";
import { findTemplate } from "./read";

/** Number of newest emails that are read to find the keys that use a template. */
const emailsReadMax = 500;

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
