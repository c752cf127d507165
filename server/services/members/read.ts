import { and, asc, eq, max, sql } from "drizzle-orm";
import { passkeys, totpFactors } from "#db/schema/account";
import { memberships, sessions, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import type { Member } from "#server/shared/wire/people/team";

/** Maximum length of the list. Teams are small. */
const membersMax = 500;

/** The team's members, in the order of joining. */
export async function listMembers(ctx: Ctx): Promise<Member[]> {
  const lastSeen = ctx.db
    .select({ userId: sessions.userId, at: max(sessions.lastSeenAt).as("at") })
    .from(sessions)
    .where(sql`${sessions.userId} in (select user_id from ${memberships} where team_id = ${ctx.teamId})`)
    .groupBy(sessions.userId)
    .as("seen");
  return ctx.db
    .select({
      userId: users.id,
      email: users.email,
      name: users.name,
      role: memberships.role,
      isTwoFactorOn: sql<boolean>`exists (select from ${totpFactors} t where t.user_id = ${users.id}
        and t.confirmed_at is not null) or exists (select from ${passkeys} p where p.user_id = ${users.id})`,
      joinedAt: memberships.createdAt,
      lastSeenAt: lastSeen.at,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .leftJoin(lastSeen, eq(lastSeen.userId, users.id))
    .where(eq(memberships.teamId, ctx.teamId))
    .orderBy(asc(memberships.createdAt), asc(memberships.userId))
    .limit(membersMax);
}

/**
 * The team's members with this text in their name or email address, in any letter case, in the order of
 * joining.
 */
export const findMembers = (
  ctx: Ctx,
  { part, limit }: { part: string; limit: number },
): Promise<{ userId: string; email: string; name: string | null }[]> =>
  ctx.db
    .select({ userId: users.id, email: users.email, name: users.name })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.teamId, ctx.teamId),
        sql`strpos(lower(${users.email} || ' ' || coalesce(${users.name}, '')), lower(${part})) > 0`,
      ),
    )
    .orderBy(asc(memberships.createdAt), asc(memberships.userId))
    .limit(limit);
