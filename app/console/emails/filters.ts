import { type inferParserType, parseAsArrayOf, parseAsString, parseAsStringLiteral } from "nuqs/server";
import { STATUSES, type Status } from "#server/shared/email-words";
import { activeFilters, CURSOR } from "../_ui/list/list-filters";

/** Time ranges that end now. */
export const WITHIN = ["1h", "24h", "7d", "30d"] as const;
/** What recipients did. A click is also an open. */
export const ENGAGEMENT_NAMES = ["opened", "clicked"] as const;
export const STATUS_NAMES = Object.keys(STATUSES) as Status[];

/** The URL parameters of the list. */
export const emailFilters = {
  q: parseAsString,
  status: parseAsArrayOf(parseAsStringLiteral(STATUS_NAMES)),
  key: parseAsString,
  domain: parseAsString,
  within: parseAsStringLiteral(WITHIN),
  since: parseAsString,
  until: parseAsString,
  recipient: parseAsString,
  tag: parseAsString,
  engagement: parseAsStringLiteral(ENGAGEMENT_NAMES),
  subject: parseAsString,
  ...CURSOR,
};
export type EmailFilters = inferParserType<typeof emailFilters>;

/** The chosen statuses; empty for all, and if the URL names none that exists. */
export const statusesOf = ({ status }: EmailFilters): readonly Status[] => status ?? [];

const RETRYABLE: readonly Status[] = ["failed", "bounced", "deferred", "unknown"];

/** Whether a bulk retry sends emails with this status again. */
export const isRetryable = (status: Status): boolean => RETRYABLE.includes(status);

/** The active filters as input of all calls that use them: list, retry and export. */
export function filterInput({ q: search, status, after: _after, before: _before, ...filters }: EmailFilters) {
  return activeFilters({ search, status: status?.join(",") || null, ...filters });
}

/** The input of the list query. Server and browser must use the same input to share the prefetched result. */
export function listInput(team: string, filters: EmailFilters) {
  const { after, before } = filters;
  return { team, ...filterInput(filters), ...activeFilters({ after, before }) };
}

export const isFiltered = (filters: EmailFilters): boolean => Object.keys(filterInput(filters)).length > 0;
