import { and, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn, PgTable } from "drizzle-orm/pg-core";
import { apiKeys } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import { emails } from "#db/schema/emails";
import { memberships, teams } from "#db/schema/teams";
import { templates } from "#db/schema/templates";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { isId } from "#server/platform/ids";

/** Where each noun of an action is stored, and which of its rows exist for the user. */
const TABLES: Record<string, { table: PgTable; id: AnyPgColumn; teamId: AnyPgColumn; exists?: SQL }> = {
  key: { table: apiKeys, id: apiKeys.id, teamId: apiKeys.teamId, exists: isNull(apiKeys.revokedAt) },
  domain: { table: domains, id: domains.id, teamId: domains.teamId },
  template: { table: templates, id: templates.id, teamId: templates.teamId },
  webhook: { table: webhooks, id: webhooks.id, teamId: webhooks.teamId },
  email: { table: emails, id: emails.id, teamId: emails.teamId },
  team: { table: teams, id: teams.id, teamId: teams.id },
  member: { table: memberships, id: memberships.userId, teamId: memberships.teamId },
};

async function findIds({ db, teamId }: Ctx, noun: string, ids: string[]): Promise<string[]> {
  const place = TABLES[noun];
  if (!place) return [];
  const isGiven = and(eq(place.teamId, teamId), inArray(place.id, ids), place.exists);
  const rows = await db
    .select({ id: sql<string>`${place.id}` })
    .from(place.table)
    .where(isGiven);
  return rows.map(({ id }) => id);
}

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
  const found = await Promise.all([...byNoun].map(([noun, ids]) => findIds(ctx, noun, [...ids])));
  return new Set(found.flat());
}
