import { type inferParserType, parseAsString, parseAsStringLiteral } from "nuqs/server";
import { activeFilters } from "../_ui/list/list-filters";

/** Time ranges of the overview, in UTC days. The last one has its own first and last day. */
export const RANGES = ["today", "7d", "30d", "90d", "days"] as const;
export type Range = (typeof RANGES)[number];

export const RANGE_LABELS: Record<Range, string> = {
  today: "Today",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
  days: "Custom",
};

/** The URL parameters of the overview. */
export const overviewSearch = {
  range: parseAsStringLiteral(RANGES).withDefault("7d"),
  since: parseAsString,
  until: parseAsString,
  domain: parseAsString,
  key: parseAsString,
  tag: parseAsString,
};
export type OverviewSearch = inferParserType<typeof overviewSearch>;

/**
 * The input of the traffic query. Server and browser must use the same input to share the prefetched result.
 */
export function trafficInput(team: string, { range, since, until, domain, key, tag }: OverviewSearch) {
  const days = range === "days" ? { since, until } : {};
  return { team, range, ...activeFilters({ ...days, domain, key, tag }) };
}
