import { z } from "zod";
import { readDays, readHours, type Span, type Spans } from "#server/services/overview/days";
import { type Parts, readParts, readSetup } from "#server/services/overview/health";
import {
  type Failure,
  listFailures,
  type Queue,
  readDeliveryTimes,
  readQueue,
} from "#server/services/overview/queue";
import {
  type HeldEmail,
  heldCountMax,
  type Restore,
  readHeldAfterRestore,
  settleHeld,
} from "#server/services/restores/held";
import { presentEmailSummary } from "#server/shared/wire/email";
import { USAGE_COUNTS, type UsageCounts } from "#server/shared/wire/usage";
import { inTeam, router } from "../init";
import { strictInput, TeamInput } from "../strict";

/** Time ranges of the overview, in days. */
const DAYS = { today: 1, "7d": 7, "30d": 30 } as const;
const failuresShown = 6;
const dayMs = 86_400_000;

const Range = strictInput({ range: z.enum(["today", "7d", "30d"]) });

const viewSpan = ({ at, ...counts }: Span) => ({ at: at.toISOString(), ...counts });

/** The days with their total; for a single day its hours instead. */
function viewSpans(days: Spans, hours: Spans | null) {
  const total = Object.fromEntries(
    USAGE_COUNTS.map((name) => [name, days.spans.reduce((sum, span) => sum + span[name], 0)]),
  ) as UsageCounts;
  return {
    total,
    unit: hours ? ("hour" as const) : ("day" as const),
    spans: (hours ?? days).spans.map(viewSpan),
    /** `isComplete`: all events are counted. `isWhole`: the hours reach back to the start of the day. */
    isComplete: days.isComplete,
    isWhole: hours?.isComplete ?? true,
  };
}
export type SpanView = ReturnType<typeof viewSpan>;

const viewQueue = ({ oldestAt, ...queue }: Queue) => ({
  ...queue,
  oldestAt: oldestAt?.toISOString() ?? null,
});
export type QueueView = ReturnType<typeof viewQueue>;

const viewFailure = ({ email, ...cause }: Failure) => ({ ...presentEmailSummary(email), ...cause });
export type FailureView = ReturnType<typeof viewFailure>;

const viewParts = ({ relays, smtpUrl, webhooks, worker }: Parts) => ({
  relays: relays.map(({ pausedUntil, lastFaultAt, ...relay }) => ({
    ...relay,
    pausedUntil: pausedUntil?.toISOString() ?? null,
    lastFaultAt: lastFaultAt?.toISOString() ?? null,
  })),
  smtpUrl: smtpUrl && { ...smtpUrl, lastFaultAt: smtpUrl.lastFaultAt.toISOString() },
  webhooks: webhooks.map(({ failingSince, ...webhook }) => ({
    ...webhook,
    failingSince: failingSince?.toISOString() ?? null,
  })),
  worker: worker && { transport: worker.transport, seenAt: worker.seenAt.toISOString() },
});
export type PartsView = ReturnType<typeof viewParts>;

const SettleHeld = strictInput({
  to: z.enum(["release", "cancel"]),
  /** Only email accepted at or after this time, and at or before this one; the rest stays held. */
  acceptedAfter: z.iso.datetime().optional(),
  acceptedBefore: z.iso.datetime().optional(),
  /** Only email scheduled for a later time. */
  scheduledAfter: z.iso.datetime().optional(),
  /** `next` of the part before; null at the start. */
  next: z.string().max(1_000).nullable(),
});
const timeOrNull = (text: string | undefined) => (text === undefined ? null : new Date(text));

const viewHeld = ({ deliveries, oldestAt, newestAt }: HeldEmail, { takenAt }: Restore) => ({
  deliveries: Math.min(deliveries, heldCountMax),
  hasMore: deliveries > heldCountMax,
  oldestAt: oldestAt.toISOString(),
  newestAt: newestAt.toISOString(),
  /** When the restored backup was made. */
  backupAt: takenAt.toISOString(),
});
export type HeldView = ReturnType<typeof viewHeld>;

export const overviewRouter = router({
  /** Counts per day, or per hour for today, and the delivery times. */
  traffic: inTeam("usage:read")
    .input(Range)
    .query(async ({ ctx: { service }, input: { range } }) => {
      const days = DAYS[range];
      const since = new Date(Math.floor(service.clock().getTime() / dayMs) * dayMs - (days - 1) * dayMs);
      const [counted, hours, latency] = await Promise.all([
        readDays(service, days),
        range === "today" ? readHours(service) : null,
        readDeliveryTimes(service, since),
      ]);
      return { ...viewSpans(counted, hours), latency };
    }),
  /** The queue and the recent failures. */
  standing: inTeam("emails:read")
    .input(TeamInput)
    .query(async ({ ctx: { service } }) => {
      const [queue, failures] = await Promise.all([readQueue(service), listFailures(service, failuresShown)]);
      return { queue: viewQueue(queue), failures: failures.map(viewFailure) };
    }),
  /** The deliveries that are held after a restore; null if there are none. */
  held: inTeam("emails:read")
    .input(TeamInput)
    .query(async ({ ctx: { service } }) => {
      const found = await readHeldAfterRestore(service);
      return found && viewHeld(found.held, found.restore);
    }),
  /** Releases or cancels held deliveries of the team, one part of them; `next` starts the next part. */
  settleHeld: inTeam("team:write")
    .input(SettleHeld)
    .mutation(({ ctx: { service }, input: { to, acceptedAfter, acceptedBefore, scheduledAfter, next } }) =>
      settleHeld(
        service,
        {
          to,
          acceptedAfter: timeOrNull(acceptedAfter),
          acceptedBefore: timeOrNull(acceptedBefore),
          scheduledAfter: timeOrNull(scheduledAfter),
        },
        next,
      ),
    ),
  /** The state of relays, webhooks and worker, and the remaining setup steps before the first real email. */
  parts: inTeam("usage:read")
    .input(TeamInput)
    .query(async ({ ctx: { service, signedInAs, deps } }) => {
      const [parts, setup] = await Promise.all([readParts(service), readSetup(service)]);
      const own = { ownAddress: signedInAs.user.email, smtp: deps.submissionPort() };
      return { ...viewParts(parts), setup: { ...setup, ...own } };
    }),
});
