import { and, eq, sql } from "drizzle-orm";
import { emails } from "#db/schema/emails";
import { teams } from "#db/schema/teams";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { subscribesTo } from "./announce";

const countedMax = 1_000;

/**
 * Counts the team's emails of unknown outcome, up to 1,000. Also reads the team's policy for them, and
 * whether an enabled endpoint subscribes to `email.unknown`.
 */
export async function listUnknownEmails(ctx: Ctx) {
  const some = ctx.db
    .select({ one: sql`1`.as("one") })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), eq(emails.status, "unknown")))
    .limit(countedMax)
    .as("some");
  const subscribed = ctx.db.select({ one: sql`1` }).from(webhooks).where(subscribesTo(ctx, "email.unknown"));
  const [[counted], [team]] = await Promise.all([
    ctx.db.select({ emails: sql<number>`count(*)::int` }).from(some),
    ctx.db
      .select({ policy: teams.unknownPolicy, isSubscribed: sql<boolean>`exists ${subscribed}` })
      .from(teams)
      .where(eq(teams.id, ctx.teamId)),
  ]);
  if (!team || !counted) throw new Error("the team does not exist");
  return { emails: counted.emails, isAtLeast: counted.emails === countedMax, ...team };
}
