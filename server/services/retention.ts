import { eq } from "drizzle-orm";
import type { AuditDetail } from "#db/schema/audit";
import { retention } from "#db/schema/retention";
import { teams } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { recordAudit } from "./audit/record";

/** How many days of a team's mail are kept, counted from when it was accepted; null: for good. */
export type Retention = {
  /** What mails say, and their files. */
  bodiesDays: number | null;
  /** Mails whole, with their recipients and everything that happened to them. */
  emailsDays: number | null;
};

/** Ten years. */
export const retentionDaysMax = 3_650;
const FOR_GOOD: Retention = { bodiesDays: null, emailsDays: null };

export async function readRetention({ db, teamId }: Pick<Ctx, "db" | "teamId">): Promise<Retention> {
  const [row] = await db
    .select({ bodiesDays: retention.bodiesDays, emailsDays: retention.emailsDays })
    .from(retention)
    .where(eq(retention.teamId, teamId));
  return row ?? FOR_GOOD;
}

/**
 * Says how long a team's mail is kept. Shorter than before, the worker takes away what is over within the minutes that
 * follow, and nothing brings it back. AppError `invalid` where what mails say would outlive them.
 */
export async function setRetention(ctx: Ctx, wanted: Retention): Promise<void> {
  const { bodiesDays, emailsDays } = wanted;
  for (const days of [bodiesDays, emailsDays])
    if (days !== null && (!Number.isInteger(days) || days < 1 || days > retentionDaysMax))
      throw new AppError("invalid", `Keep mail for 1 to ${retentionDaysMax} days, or for good.`);
  if (bodiesDays !== null && emailsDays !== null && bodiesDays > emailsDays)
    throw new AppError("invalid", "What mails say is part of them and cannot be kept longer than they are.");
  await ctx.db.transaction(async (tx) => {
    const [team] = await tx
      .select({ name: teams.name })
      .from(teams)
      .where(eq(teams.id, ctx.teamId))
      .for("no key update");
    if (!team) throw notFound("Team");
    const before = await readRetention({ db: tx, teamId: ctx.teamId });
    const detail: AuditDetail = {
      ...(bodiesDays === before.bodiesDays
        ? {}
        : { keep_contents_days: bodiesDays, keep_contents_days_before: before.bodiesDays }),
      ...(emailsDays === before.emailsDays
        ? {}
        : { keep_mails_days: emailsDays, keep_mails_days_before: before.emailsDays }),
    };
    if (Object.keys(detail).length === 0) return;
    // Without the lease that a worker may have nothing goes on by the former days.
    await tx.delete(retention).where(eq(retention.teamId, ctx.teamId));
    if (bodiesDays !== null || emailsDays !== null)
      await tx.insert(retention).values({ teamId: ctx.teamId, bodiesDays, emailsDays });
    await recordAudit(tx, ctx, {
      action: "team.changed",
      subject: { id: ctx.teamId, name: team.name },
      detail,
    });
  });
}
