import { parseAsString, parseAsStringLiteral } from "nuqs/server";
import { EMAIL_STATUS_NAMES } from "../_ui/text/statuses";

/** Time ranges that end now. */
export const WITHIN = ["1h", "24h", "7d", "30d"] as const;

/** The URL parameters of the list. */
export const emailFilters = {
  q: parseAsString,
  status: parseAsStringLiteral(EMAIL_STATUS_NAMES),
  key: parseAsString,
  domain: parseAsString,
  within: parseAsStringLiteral(WITHIN),
  since: parseAsString,
  until: parseAsString,
  recipient: parseAsString,
  subject: parseAsString,
  after: parseAsString,
  before: parseAsString,
};

type Texts = Record<
  "q" | "key" | "domain" | "since" | "until" | "recipient" | "subject" | "after" | "before",
  string | null
>;
export type EmailFilters = Texts & {
  status: (typeof EMAIL_STATUS_NAMES)[number] | null;
  within: (typeof WITHIN)[number] | null;
};

/** The active filters as input of all calls that use them: list, retry and export. */
export function filterInput(filters: EmailFilters) {
  const { q, status, key, domain, within, since, until, recipient, subject } = filters;
  return {
    ...(q ? { search: q } : {}),
    ...(status ? { status } : {}),
    ...(key ? { key } : {}),
    ...(domain ? { domain } : {}),
    ...(within ? { within } : {}),
    ...(since ? { since } : {}),
    ...(until ? { until } : {}),
    ...(recipient ? { recipient } : {}),
    ...(subject ? { subject } : {}),
  };
}

/** The input of the list query. Server and browser must use the same input to share the prefetched result. */
export function listInput(team: string, filters: EmailFilters) {
  const { after, before } = filters;
  return { team, ...filterInput(filters), ...(after ? { after } : {}), ...(before ? { before } : {}) };
}

export const isFiltered = (filters: EmailFilters): boolean => Object.keys(filterInput(filters)).length > 0;

/** The values that clear all URL parameters. */
export const NO_FILTERS = Object.fromEntries(
  Object.keys(emailFilters).map((name) => [name, null]),
) as unknown as EmailFilters;
