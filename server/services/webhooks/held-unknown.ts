import { and, arrayContains, eq, sql } from "drizzle-orm";
import { emails } from "#db/schema/emails";
import { teams } from "#db/schema/teams";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";

const countedMax = 1_000;

/** Mail of which nobody can tell whether it arrived, and whom that is told. */
export type HeldUnknown = {
  /** Mails that stand at `unknown`, up to a thousand. */
  emails: number;
  isAtLeast: boolean;
  /** What the team lets become of them: sent again by themselves, or held for somebody to decide. */
  policy: "retry" | "hold";
  /** An enabled endpoint asked for `email.unknown`. */
  isHeard: boolean;
};

/** Counts the team's mail of unknown outcome, and tells whether any endpoint hears of it. */
export async function readHeldUnknown(ctx: Ctx): Promise<HeldUnknown> {
  const some = ctx.db
    .select({ one: sql`1`.as("one") })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), eq(emails.status, "unknown")))
    .limit(countedMax)
    .as("some");
  const hearing = ctx.db
    .select({ one: sql`1` })
    .from(webhooks)
    .where(
      and(
        eq(webhooks.teamId, ctx.teamId),
        eq(webhooks.status, "enabled"),
        arrayContains(webhooks.events, ["email.unknown"]),
      ),
    );
  const [[counted], [team]] = await Promise.all([
    ctx.db.select({ emails: sql<number>`count(*)::int` }).from(some),
    ctx.db
      .select({ policy: teams.unknownPolicy, isHeard: sql<boolean>`exists ${hearing}` })
      .from(teams)
      .where(eq(teams.id, ctx.teamId)),
  ]);
  if (!team || !counted) throw new Error("a team lost its row while it was asked about");
  return { emails: counted.emails, isAtLeast: counted.emails === countedMax, ...team };
}
