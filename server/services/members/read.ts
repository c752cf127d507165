import { asc, eq, max, sql } from "drizzle-orm";
import { passkeys, totpFactors } from "#db/schema/account";
import { memberships, type Role, sessions, users } from "#db/schema/teams";
import type { Ctx } from "#server/deps";

/** Somebody in the team. */
export type Member = {
  userId: string;
  email: string;
  name: string | null;
  role: Role;
  /** Whether a first proof alone, such as a password, opens nothing for them. */
  hasSecondFactor: boolean;
  joinedAt: Date;
  /** When a session of theirs last called, to the minute; null for whoever never signed in. */
  lastSeenAt: Date | null;
};

/** How many members are told of; a team is a handful of people. */
const membersMax = 500;

/** Who is in the team, whoever joined first coming first. */
export async function listMembers(ctx: Ctx): Promise<Member[]> {
  const seen = ctx.db
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
      hasSecondFactor: sql<boolean>`exists (select from ${totpFactors} t where t.user_id = ${users.id}
        and t.confirmed_at is not null) or exists (select from ${passkeys} p where p.user_id = ${users.id})`,
      joinedAt: memberships.createdAt,
      lastSeenAt: seen.at,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .leftJoin(seen, eq(seen.userId, users.id))
    .where(eq(memberships.teamId, ctx.teamId))
    .orderBy(asc(memberships.createdAt), asc(memberships.userId))
    .limit(membersMax);
}
