import type { MetricsRow, RecipientCounts } from "#server/services/metrics/sum";
import type { LargestRows, Traffic } from "#server/services/overview/traffic";
import { metricsOf, reached } from "#server/shared/wire/metrics";

/** Recipients by status, each in one of them: together they are all recipients. */
const viewStatuses = (counts: RecipientCounts) => {
  const { bounced, in_progress: inProgress } = metricsOf(counts, ["bounced", "in_progress"]);
  const { delivered, sent, complained, failed, unknown, suppressed, canceled } = counts;
  return { delivered, sent, inProgress, bounced, complained, failed, unknown, suppressed, canceled };
};

const viewCounts = (counts: RecipientCounts) => {
  const metrics = metricsOf(counts, [
    "sent",
    "delivered",
    "delivery_rate",
    "bounce_rate",
    "complaint_rate",
    "open_rate",
    "click_rate",
    "unique_opened",
    "unique_clicked",
  ]);
  const { sent } = metrics;
  return {
    ...viewStatuses(counts),
    received: counts.received,
    opensTracked: counts.opens_tracked,
    clicksTracked: counts.clicks_tracked,
    metrics,
    /** The recipients of which each rate is a percentage. */
    rateOf: { delivery_rate: sent, bounce_rate: sent, complaint_rate: reached(counts) },
  };
};
export type CountsView = ReturnType<typeof viewCounts>;

const viewSpan = ({ at, ...counts }: Traffic["spans"][number]) => ({
  at: at.toISOString(),
  ...viewStatuses(counts),
  ...metricsOf(counts, ["bounce_rate", "complaint_rate"]),
});
export type SpanView = ReturnType<typeof viewSpan>;

const viewRows = ({ rows, hidden }: LargestRows, nameOf: (row: MetricsRow) => string | undefined) => ({
  rows: rows.map((row) => ({ name: nameOf(row) ?? "", ...viewCounts(row) })),
  hidden,
});
export type RowsView = ReturnType<typeof viewRows>;

export const viewTags = (tags: LargestRows): RowsView => viewRows(tags, ({ tag }) => tag);

export const viewTraffic = (traffic: Traffic) => ({
  unit: traffic.unit,
  spans: traffic.spans.map(viewSpan),
  /** The span that has not ended: its bar is not complete. */
  partialAt: traffic.partialAt?.toISOString() ?? null,
  total: viewCounts(traffic.total),
  previous: viewCounts(traffic.previous),
  byProvider: viewRows(traffic.byProvider, ({ provider }) => provider),
  byDomain: viewRows(traffic.byDomain, ({ domain }) => domain),
  isComplete: traffic.isComplete,
});
export type TrafficView = ReturnType<typeof viewTraffic>;
