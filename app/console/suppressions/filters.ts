import { parseAsString, parseAsStringLiteral } from "nuqs/server";
import { CURSOR } from "../_ui/list/list-filters";
import type { Label } from "../_ui/text/badge";

export const ORIGINS = ["bounce", "complaint", "unsubscribe", "manual"] as const;
export type Origin = (typeof ORIGINS)[number];

/** The URL parameters of the page. The export has the same filters, without the cursor. */
export const suppressionFilters = {
  search: parseAsString,
  origin: parseAsStringLiteral(ORIGINS),
  ...CURSOR,
};

/** The origin of a suppression: label, tooltip and badge color. */
export const ORIGIN_LABELS: Record<Origin, Label> = {
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
  unsubscribe: { label: "Unsubscribed", tone: "info", description: "The recipient unsubscribed." },
  manual: { label: "Manual", tone: "mute", description: "Added manually." },
};
