import type { SpanView } from "#server/trpc/overview/traffic-view";

export type Status = Exclude<keyof SpanView, "at" | "bounce_rate" | "complaint_rate">;
export type Series = {
  name: Status;
  label: string;
  /** A CSS variable, so the color fits both themes. The table below the chart has the same data. */
  color: string;
};

/** Results that need attention. They have a scale of their own, because their numbers are much smaller. */
export const PROBLEMS: readonly Series[] = [
  { name: "bounced", label: "Bounced", color: "var(--bad)" },
  { name: "complained", label: "Complained", color: "var(--accent)" },
  { name: "failed", label: "Failed", color: "var(--ink)" },
  { name: "unknown", label: "Unknown", color: "var(--warn)" },
];

/** All statuses of a recipient, from the bottom of a bar to its top. */
export const STATUSES: readonly Series[] = [
  { name: "delivered", label: "Delivered", color: "var(--good)" },
  { name: "sent", label: "Sent", color: "var(--info)" },
  { name: "inProgress", label: "In progress", color: "var(--in-progress)" },
  { name: "suppressed", label: "Suppressed", color: "var(--soft)" },
  { name: "canceled", label: "Canceled", color: "var(--canceled)" },
  ...PROBLEMS,
];

/** The label of a time span: an hour of a day, or a day. In UTC, as the counts are. */
export const formatSpan = (at: string, unit: "hour" | "day"): string =>
  unit === "hour"
    ? `${at.slice(11, 13)}:00`
    : new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
