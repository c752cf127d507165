import type { SpanView } from "#server/trpc/overview/overview";

type Count = Exclude<keyof SpanView, "at">;
export type Series = {
  name: Count;
  label: string;
  /** A CSS variable, so the color fits both themes. Series must also differ in shape or dash, not only in color. */
  color: string;
  dash?: string;
};

/** Successful events, drawn as lines on one scale. */
export const TRAFFIC: readonly Series[] = [
  { name: "accepted", label: "Accepted", color: "var(--soft)", dash: "5 4" },
  { name: "sent", label: "Sent", color: "var(--info)" },
  { name: "delivered", label: "Delivered", color: "var(--good)" },
];

/** Problems, drawn as bars on a separate scale because their numbers are much smaller. */
export const PROBLEMS: readonly Series[] = [
  { name: "bounced", label: "Bounced", color: "var(--bad)" },
  { name: "failed", label: "Failed", color: "var(--mute)" },
  { name: "complained", label: "Complained", color: "var(--accent)" },
  { name: "unknown", label: "Unknown", color: "var(--warn)" },
];

/** The label of a time span: an hour of today, or a day. In UTC, as the counts are. */
export const formatSpan = (at: string, unit: "hour" | "day"): string =>
  unit === "hour"
    ? `${at.slice(11, 13)}:00`
    : new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
