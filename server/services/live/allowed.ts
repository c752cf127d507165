import { and, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import { memberships, sessions } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { hasPermission, type Permission } from "#server/shared/roles";

/** What a member must be allowed to do in a team to receive its changes. */
export const watchPermission = "emails:read" satisfies Permission;

/** Those of the sessions that are open, and whose user is still a member with the permission. */
export async function findAllowedSessions(
  { db }: Pick<Deps, "db">,
  teamId: string,
  sessionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .select({ id: sessions.id, role: memberships.role })
    .from(sessions)
    .innerJoin(memberships, eq(memberships.userId, sessions.userId))
    .where(
      and(
        inArray(sessions.id, [...sessionIds]),
        isNull(sessions.revokedAt),
        gt(sessions.expiresAt, sql`now()`),
        eq(memberships.teamId, teamId),
      ),
    );
  return new Set(rows.flatMap(({ id, role }) => (hasPermission(role, watchPermission) ? [id] : [])));
}
