import { and, eq, inArray, isNull } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import { emails } from "#db/schema/emails";
import { memberships } from "#db/schema/teams";
import { templates } from "#db/schema/templates";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { isId } from "#server/platform/ids";

type Finder = (ctx: Ctx, ids: string[]) => PromiseLike<{ id: string }[]>;

/** Finds existing objects by id, for each noun of an action. */
const FINDERS: Record<string, Finder> = {
  key: ({ db, teamId }, ids) =>
    db
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.teamId, teamId), inArray(apiKeys.id, ids), isNull(apiKeys.revokedAt))),
  domain: ({ db, teamId }, ids) =>
    db
      .select({ id: domains.id })
      .from(domains)
      .where(and(eq(domains.teamId, teamId), inArray(domains.id, ids))),
  template: ({ db, teamId }, ids) =>
    db
      .select({ id: templates.id })
      .from(templates)
      .where(and(eq(templates.teamId, teamId), inArray(templates.id, ids))),
  webhook: ({ db, teamId }, ids) =>
    db
      .select({ id: webhooks.id })
      .from(webhooks)
      .where(and(eq(webhooks.teamId, teamId), inArray(webhooks.id, ids))),
  email: ({ db, teamId }, ids) =>
    db
      .select({ id: emails.id })
      .from(emails)
      .where(and(eq(emails.teamId, teamId), inArray(emails.id, ids))),
  team: async ({ teamId }, ids) => ids.filter((id) => id === teamId).map((id) => ({ id })),
  member: ({ db, teamId }, ids) =>
    db
      .select({ id: memberships.userId })
      .from(memberships)
      .where(and(eq(memberships.teamId, teamId), inArray(memberships.userId, ids))),
};

export const nounOf = (action: string): string => action.split(".", 1)[0] ?? "";

/** The ids of those subjects that still exist, so that pages only link to existing objects. */
export async function findSubjects(
  ctx: Ctx,
  entries: readonly { action: string; subjectId: string | null }[],
): Promise<Set<string>> {
  const byNoun = new Map<string, Set<string>>();
  for (const { action, subjectId } of entries) {
    if (subjectId === null || !isId(subjectId)) continue;
    const noun = nounOf(action);
    byNoun.set(noun, (byNoun.get(noun) ?? new Set()).add(subjectId));
  }
  const found = await Promise.all([...byNoun].map(([noun, ids]) => FINDERS[noun]?.(ctx, [...ids]) ?? []));
  return new Set(found.flat().map(({ id }) => id));
}
