import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import type { Tone } from "../_ui/text/statuses";
import type { Origin } from "./filters";

/** The origin of a suppression: label, tooltip and badge color. */
export const ORIGIN_LABELS: Record<Origin, { label: string; tone: Tone; description: string }> = {
  bounce: {
    label: "Bounced",
    tone: "bad",
    description: "Its mail server rejected the address permanently.",
  },
  complaint: {
    label: "Complained",
    tone: "warn",
    description: "The recipient marked an email as spam.",
  },
  manual: { label: "Manual", tone: "mute", description: "Added manually." },
};

/** Why an address is suppressed, in one sentence. */
export const formatReason = ({ origin, listsOnly, reply }: SuppressionRow): string => {
  if (listsOnly) return "The recipient unsubscribed. Email without an unsubscribe link is still sent.";
  return reply ?? ORIGIN_LABELS[origin].description;
};
