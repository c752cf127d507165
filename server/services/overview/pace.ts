import { eq, sql } from "drizzle-orm";
import { type EmailStatus, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { timeOfId } from "#server/ids";

/** Events that the delivery time is taken from, the newest ones. */
const sampleMax = 5_000;
/** So far a queue is counted; a longer one is only called longer. */
export const queueCountMax = 10_000;

/** How long mail takes from being accepted, or from its scheduled time, to its hand-over. Null where none was handed over. */
export type Pace = { p50Ms: number; p95Ms: number; deliveries: number } | null;

/** The time of the newest deliveries since then, of which at most the last 5,000 events tell: a sample, however much there is. */
export async function readPace(ctx: Ctx, since: Date): Promise<Pace> {
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
  const took = ctx.db
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
    .as("took");
  const at = (part: number) =>
    sql<number>`coalesce(percentile_cont(${part}::float8) within group (order by greatest(${took.ms}, 0)), 0)::float8`;
  const [found] = await ctx.db
    .select({ p50Ms: at(0.5), p95Ms: at(0.95), deliveries: sql<number>`count(*)::int` })
    .from(took);
  return found && found.deliveries > 0 ? found : null;
}

const WAITING = ["queued", "sending", "deferred", "scheduled", "unknown"] as const satisfies EmailStatus[];
export type Queue = {
  /** Mails by where they stand, each counted up to `queueCountMax`. */
  counts: Record<(typeof WAITING)[number], number>;
  /** When the oldest mail that waits for its turn was accepted. */
  oldestAt: Date | null;
};

/** What has not reached its end. Each figure reads so many entries of one index and no more. */
export async function readQueue(ctx: Ctx): Promise<Queue> {
  const countOf = (status: EmailStatus) => sql<number>`(select count(*)::int from (
    select from ${emails} where ${emails.teamId} = ${ctx.teamId} and ${emails.status} = ${status}
    limit ${queueCountMax + 1}) as counted)`;
  const firstOf = (status: EmailStatus) => sql<string | null>`(select ${emails.id} from ${emails}
    where ${emails.teamId} = ${ctx.teamId} and ${emails.status} = ${status} order by ${emails.id} limit 1)`;
  const parts = [...WAITING.map(countOf), ...(["queued", "sending"] as const).map(firstOf)];
  const named = parts.map((part, nth) => sql`${part} as ${sql.identifier(`part_${nth}`)}`);
  const [row] = await ctx.db.execute<Record<string, number | string | null>>(
    sql`select ${sql.join(named, sql`, `)}`,
  );
  const values = parts.map((_, nth) => row?.[`part_${nth}`] ?? null);
  const counts = Object.fromEntries(
    WAITING.map((status, nth) => [status, Number(values[nth] ?? 0)]),
  ) as Queue["counts"];
  const ids = values.slice(WAITING.length).flatMap((id) => (typeof id === "string" ? [id] : []));
  const [oldest] = ids.sort();
  return { counts, oldestAt: oldest === undefined ? null : timeOfId(oldest) };
}
