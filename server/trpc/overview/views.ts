import type { Span, Spans } from "#server/services/overview/days";
import type { Failure } from "#server/services/overview/failures";
import type { Parts } from "#server/services/overview/health";
import type { Queue } from "#server/services/overview/queue";
import { presentEmailSummary } from "#server/shared/wire/email";
import { USAGE_COUNTS, type UsageCounts } from "#server/shared/wire/usage";

const viewSpan = ({ at, ...counts }: Span) => ({ at: at.toISOString(), ...counts });

/** The days with their total; for a single day its hours instead. */
export function viewSpans(days: Spans, hours: Spans | null) {
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

export const viewQueue = ({ oldestAt, ...queue }: Queue) => ({
  ...queue,
  oldestAt: oldestAt?.toISOString() ?? null,
});
export type QueueView = ReturnType<typeof viewQueue>;

export const viewFailure = ({ email, ...cause }: Failure) => ({ ...presentEmailSummary(email), ...cause });
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
