import type { SpanView } from "#server/trpc/overview-views";

type Count = Exclude<keyof SpanView, "at">;
export type Series = {
  name: Count;
  label: string;
  /** A colour of the page, so that it is right in both themes; told apart by the way it is drawn too. */
  color: string;
  dash?: string;
};

/** What goes well, drawn as lines over one scale. */
export const TRAFFIC: readonly Series[] = [
  { name: "accepted", label: "Accepted", color: "var(--soft)", dash: "5 4" },
  { name: "sent", label: "Handed over", color: "var(--info)" },
  { name: "delivered", label: "Delivered", color: "var(--good)" },
];

/** What goes wrong, drawn as bars over a scale of its own: beside the rest nobody would see it. */
export const TROUBLE: readonly Series[] = [
  { name: "bounced", label: "Bounced", color: "var(--bad)" },
  { name: "failed", label: "Failed", color: "var(--mute)" },
  { name: "complained", label: "Complained", color: "var(--accent)" },
  { name: "unknown", label: "Unknown", color: "var(--warn)" },
];

/** What a span is called: an hour of today or a day, in UTC as they are counted. */
export const nameSpan = (at: string, unit: "hour" | "day"): string =>
  unit === "hour"
    ? `${at.slice(11, 13)}:00`
    : new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
