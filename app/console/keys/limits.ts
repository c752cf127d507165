import type { GaugeView } from "#server/trpc/keys/views";

export type Tier = GaugeView["tier"];

/** The request classes with separate rate limits. */
export const TIER_LABELS: Record<Tier, string> = {
  "POST /api/emails": "Sending email",
  "GET /api/emails": "Reading email",
  "POST /api/templates": "Creating templates",
  other: "All other requests",
};

/** Every class, in display order. */
export const TIERS = Object.keys(TIER_LABELS) as Tier[];
