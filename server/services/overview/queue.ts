import { eq, sql } from "drizzle-orm";
import { type EmailStatus, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { timeOfId } from "#server/platform/ids";

/** Number of newest events that delivery times are computed from. */
const sampleMax = 5_000;
/** Maximum count per status; a longer queue is shown as "more than". */
const queueCountMax = 10_000;

/**
 * Time from acceptance, or from the scheduled time, to the hand-over, in ms. Null if nothing was handed over.
 */
export type DeliveryTimes = { p50Ms: number; p95Ms: number; deliveries: number } | null;

/**
 * The delivery times since `since`, from at most the newest 5,000 events: a sample, so the cost is
 * independent of volume.
 */
export async function readDeliveryTimes(ctx: Ctx, since: Date): Promise<DeliveryTimes> {
  const newest = ctx.db
    .select({
      emailId: emailEvents.emailId,
      deliveryId: emailEvents.deliveryId,
      type: emailEvents.type,
      at: emailEvents.createdAt,
    })
    .from(emailEvents)
    .where(eq(emailEvents.teamId, ctx.teamId))
    .orderBy(sql`${emailEvents.position} desc`, sql`${emailEvents.id} desc`)
    .limit(sampleMax)
    .as("newest");
  const durations = ctx.db
    .select({
      ms: sql<number>`extract(epoch from min(${newest.at}) - max(greatest(${emails.createdAt}, ${emails.scheduledAt}))) * 1000`.as(
        "ms",
      ),
    })
    .from(newest)
    .innerJoin(emails, sql`${emails.teamId} = ${ctx.teamId} and ${emails.id} = ${newest.emailId}`)
    .where(
      sql`${newest.type} in ('email.sent', 'email.delivered') and ${newest.deliveryId} is not null
        and ${newest.at} >= ${since.toISOString()}::timestamptz`,
    )
    .groupBy(newest.deliveryId)
    .as("durations");
  const at = (part: number) =>
    sql<number>`coalesce(percentile_cont(${part}::float8) within group (order by greatest(${durations.ms}, 0)), 0)::float8`;
  const [found] = await ctx.db
    .select({ p50Ms: at(0.5), p95Ms: at(0.95), deliveries: sql<number>`count(*)::int` })
    .from(durations);
  return found && found.deliveries > 0 ? found : null;
}

const WAITING = ["queued", "sending", "deferred", "scheduled", "unknown"] as const satisfies EmailStatus[];
export type Queue = {
  /** Emails by status. A count above `countMax` means "more than". */
  counts: Record<(typeof WAITING)[number], number>;
  countMax: number;
  /** When the oldest email in the queue was accepted. */
  oldestAt: Date | null;
};

/** The emails that are not in a final state. Each figure reads a bounded number of entries of one index. */
export async function readQueue(ctx: Ctx): Promise<Queue> {
  const rows = await ctx.db.execute<{
    status: keyof Queue["counts"];
    count: number;
    first: string | null;
  }>(sql`
    select status,
      (select count(*)::int from (
         select from ${emails} where ${emails.teamId} = ${ctx.teamId} and ${emails.status} = wanted.status
         limit ${queueCountMax + 1}) as counted) as count,
      (select ${emails.id} from ${emails}
       where ${emails.teamId} = ${ctx.teamId} and ${emails.status} = wanted.status
       order by ${emails.id} limit 1) as first
    from unnest(${sql.param([...WAITING])}::text[]) as wanted(status)`);
  const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count])) as Queue["counts"];
  const [oldest] = rows
    .flatMap(({ status, first }) => (first && (status === "queued" || status === "sending") ? [first] : []))
    .sort();
  return { counts, countMax: queueCountMax, oldestAt: oldest === undefined ? null : timeOfId(oldest) };
}
