import type { Span, Spans } from "#server/services/overview/days";
import type { Failure } from "#server/services/overview/failures";
import type { Parts } from "#server/services/overview/health";
import type { Pace, Queue } from "#server/services/overview/pace";
import { USAGE_COUNTS, type UsageCounts } from "#server/services/usage";

const viewSpan = ({ at, ...counts }: Span) => ({ at: at.toISOString(), ...counts });

/** Days with their sum, or in the days' place the hours of the one day that they are. */
export function viewSpans(days: Spans, hours: Spans | null) {
  const total = Object.fromEntries(
    USAGE_COUNTS.map((name) => [name, days.spans.reduce((sum, span) => sum + span[name], 0)]),
  ) as UsageCounts;
  return {
    total,
    unit: hours ? ("hour" as const) : ("day" as const),
    spans: (hours ?? days).spans.map(viewSpan),
    /** Whether everything is counted in; and whether the hours reach back to the day's beginning. */
    isComplete: days.isComplete,
    isWhole: hours?.isComplete ?? true,
  };
}
export type SpanView = ReturnType<typeof viewSpan>;

/** A sample: `deliveries` of the newest ones. */
export const viewPace = (pace: Pace) => pace;

export const viewQueue = ({ counts, oldestAt }: Queue, countMax: number) => ({
  counts,
  /** A figure above this one means more than it. */
  countMax,
  oldestAt: oldestAt?.toISOString() ?? null,
});
export type QueueView = ReturnType<typeof viewQueue>;

export const viewFailure = ({ email, recipient, reason }: Failure) => ({
  id: email.id,
  status: email.status,
  subject: email.subject,
  recipient,
  reason,
  createdAt: email.createdAt.toISOString(),
});
export type FailureView = ReturnType<typeof viewFailure>;

export const viewParts = ({ relays, smtpUrl, webhooks, worker }: Parts) => ({
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
