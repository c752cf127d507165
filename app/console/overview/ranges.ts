import { parseAsStringLiteral } from "nuqs/server";

/** Time ranges of the overview, in UTC days. */
export const RANGES = ["today", "7d", "30d"] as const;
export type Range = (typeof RANGES)[number];

export const RANGE_LABELS: Record<Range, string> = { today: "Today", "7d": "7 days", "30d": "30 days" };

/** The URL parameters of the overview. */
export const overviewSearch = { range: parseAsStringLiteral(RANGES).withDefault("7d") };
