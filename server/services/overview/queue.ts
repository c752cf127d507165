import { and, asc, count, eq, inArray, sql } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { type EmailStatus, emails } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { timeOfId } from "#server/platform/ids";
import type { EmailSummary } from "#server/shared/wire/email";
import { listEmails } from "../emails/read/list";
import { countQueue, type QueueState } from "../pauses/totals";

/**
 * Number of newest events that delivery times are computed from: about 1,000 deliveries, of which the p95 is
 * accurate to one percentile.
 */
const sampleMax = 2_000;
/** Deliveries that are counted; a longer queue is shown as "more than". */
const queueCountMax = 10_000;

/**
 * Time from acceptance, or from the scheduled time, to the hand-over, in ms. Null if nothing was handed over.
 */
export type DeliveryTimes = { p50Ms: number; p95Ms: number; deliveries: number } | null;

/**
 * The delivery times since `since`, from at most the newest `sampleMax` events: a sample, so the cost is
 * independent of volume.
 */
export async function getDeliveryTimes(ctx: Ctx, since: Date): Promise<DeliveryTimes> {
  const [found] = await ctx.db.execute<NonNullable<DeliveryTimes>>(sql`
    with newest as (
      select email_id, delivery_id, type, created_at as at from email_events where team_id = ${ctx.teamId}
      order by position desc, id desc limit ${sampleMax}
    ), durations as (
      select greatest(0, extract(epoch from min(n.at) - max(greatest(e.created_at, e.scheduled_at))) * 1000) as ms
      from newest n join emails e on e.team_id = ${ctx.teamId} and e.id = n.email_id
      where n.type in ('email.sent', 'email.delivered') and n.delivery_id is not null
        and n.at >= ${since.toISOString()}::timestamptz
      group by n.delivery_id
    )
    select percentile_cont(0.5) within group (order by ms)::float8 as "p50Ms",
      percentile_cont(0.95) within group (order by ms)::float8 as "p95Ms", count(*)::int as deliveries
    from durations`);
  return found && found.deliveries > 0 ? found : null;
}

export type Queue = {
  /** Deliveries in the queue by status, and those with an unknown outcome as emails. */
  counts: Record<QueueState | "unknown", number>;
  /** False: the queue is longer than what was counted. */
  isComplete: boolean;
  /** When the oldest email in the queue was accepted that is not deferred or scheduled. */
  oldestAt: Date | null;
};

/** What is not in a final state. Each figure reads a bounded number of entries of one index. */
export async function getQueue(ctx: Ctx): Promise<Queue> {
  const own = (status: EmailStatus) => and(eq(emails.teamId, ctx.teamId), eq(emails.status, status));
  const [{ states, isComplete }, [unknown], oldest] = await Promise.all([
    countQueue(ctx, ctx.teamId, queueCountMax),
    ctx.db
      .select({ count: count() })
      .from(ctx.db.select({ id: emails.id }).from(emails).where(own("unknown")).limit(queueCountMax).as("u")),
    Promise.all(
      (["queued", "sending"] as const).map((status) =>
        ctx.db.select({ id: emails.id }).from(emails).where(own(status)).orderBy(asc(emails.id)).limit(1),
      ),
    ),
  ]);
  const [first] = oldest.flatMap((rows) => rows.map(({ id }) => id)).sort();
  const { queued, sending, deferred, scheduled } = states;
  return {
    counts: {
      queued: queued.count,
      sending: sending.count,
      deferred: deferred.count,
      scheduled: scheduled.count,
      unknown: unknown?.count ?? 0,
    },
    isComplete: isComplete && (unknown?.count ?? 0) < queueCountMax,
    oldestAt: first === undefined ? null : timeOfId(first),
  };
}

const FAILED = ["complained", "bounced", "failed", "unknown"] as const satisfies EmailStatus[];

/** A failed email, the recipient that determines its status, and the last reason. */
export type Failure = { email: EmailSummary; recipient: string; reason: string | null };

/** The newest failed emails. */
export async function listFailures(ctx: Ctx, limit: number): Promise<Failure[]> {
  const found = await Promise.all(FAILED.map((status) => listEmails(ctx, { status: [status], limit })));
  const newest = found
    .flatMap(({ rows }) => rows)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
  if (newest.length === 0) return [];
  const ids = newest.map(({ id }) => id);
  const { emailId, address, status, lastReason } = deliveries;
  const rows = await ctx.db
    .select({ emailId, address, status, reason: lastReason })
    .from(deliveries)
    .where(and(eq(deliveries.teamId, ctx.teamId), inArray(emailId, ids)))
    .orderBy(asc(deliveries.position));
  return newest.map((email) => {
    const worst = rows.find((row) => row.emailId === email.id && row.status === email.status);
    // The last reply for an email with a complaint is its acceptance, which is not the reason.
    const reason = email.status === "complained" ? null : (worst?.reason ?? null);
    return { email, recipient: worst?.address ?? email.to[0] ?? "", reason };
  });
}
