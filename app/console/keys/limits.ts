import type { GaugeView } from "#server/trpc/key-views";

export type Tier = GaugeView["tier"];

/** The classes of calls that are limited apart, in words. */
export const TIER_WORDS: Record<Tier, string> = {
  "POST /api/emails": "Sending mail",
  "GET /api/emails": "Reading mail",
  "POST /api/templates": "Making templates",
  other: "Everything else",
};

/** Every class, in the order of the table. */
export const TIERS = Object.keys(TIER_WORDS) as Tier[];
