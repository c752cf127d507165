import { eq } from "drizzle-orm";
import type { AuditDetail } from "#db/schema/audit";
import { retention, teams } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { recordAudit } from "./audit/record";

/** How many days a team's emails are kept after acceptance; null: indefinitely. */
export type Retention = {
  /** Message content: text, HTML and files. */
  bodiesDays: number | null;
  /** Message records: whole emails with their recipients and events. */
  emailsDays: number | null;
};

/** Ten years. */
export const retentionDaysMax = 3_650;
const INDEFINITE: Retention = { bodiesDays: null, emailsDays: null };
/**
 * Content is most of an email's size, and seldom read after some weeks. Without a limit, a disk fills
 * unnoticed.
 */
export const NEW_TEAM_RETENTION: Retention = { bodiesDays: 90, emailsDays: null };

export async function getRetention({ db, teamId }: Pick<Ctx, "db" | "teamId">): Promise<Retention> {
  const [row] = await db
    .select({ bodiesDays: retention.bodiesDays, emailsDays: retention.emailsDays })
    .from(retention)
    .where(eq(retention.teamId, teamId));
  return row ?? INDEFINITE;
}

/**
 * Sets the retention of a team's emails. If it becomes shorter, the worker permanently deletes what has
 * expired within the next minutes. AppError `invalid` if the content would be kept longer than the records.
 */
export async function setRetention(ctx: Ctx, wanted: Retention): Promise<void> {
  const { bodiesDays, emailsDays } = wanted;
  for (const days of [bodiesDays, emailsDays])
    if (days !== null && (!Number.isInteger(days) || days < 1 || days > retentionDaysMax))
      throw new AppError("invalid", `Retention must be 1 to ${retentionDaysMax} days, or unlimited.`);
  if (bodiesDays !== null && emailsDays !== null && bodiesDays > emailsDays)
    throw new AppError("invalid", "Message content cannot be kept longer than message records.");
  await ctx.db.transaction(async (tx) => {
    const [team] = await tx
      .select({ name: teams.name })
      .from(teams)
      .where(eq(teams.id, ctx.teamId))
      .for("no key update");
    if (!team) throw notFound("Team");
    const before = await getRetention({ db: tx, teamId: ctx.teamId });
    const detail: AuditDetail = {
      ...(bodiesDays === before.bodiesDays
        ? {}
        : { keep_contents_days: bodiesDays, keep_contents_days_before: before.bodiesDays }),
      ...(emailsDays === before.emailsDays
        ? {}
        : { keep_emails_days: emailsDays, keep_emails_days_before: before.emailsDays }),
    };
    if (Object.keys(detail).length === 0) return;
    // A new row is due at once.
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
