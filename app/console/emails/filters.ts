import { type inferParserType, parseAsString, parseAsStringLiteral } from "nuqs/server";
import {
  EMAIL_FILTER_NAMES,
  type EmailFilterName,
  ENGAGEMENT_NAMES,
  STATUSES,
  type Status,
  WITHIN,
} from "#server/shared/email-words";
import { CURSOR } from "../_ui/list/list-filters";
import type { useListState } from "../_ui/list/list-page";

export const STATUS_NAMES = Object.keys(STATUSES) as Status[];

/** The URL parameters of the list, which are also the input of its calls. */
export const emailFilters = {
  ...(Object.fromEntries(EMAIL_FILTER_NAMES.map((name) => [name, parseAsString])) as Record<
    EmailFilterName,
    typeof parseAsString
  >),
  within: parseAsStringLiteral(WITHIN),
  engagement: parseAsStringLiteral(ENGAGEMENT_NAMES),
  ...CURSOR,
};
export type EmailFilters = inferParserType<typeof emailFilters>;
export type EmailListState = ReturnType<typeof useListState<typeof emailFilters>>;

/** The chosen statuses; empty for all. */
export const statusesOf = ({ status }: EmailFilters): readonly Status[] =>
  STATUS_NAMES.filter((name) => status?.split(",").includes(name));

const RETRYABLE: readonly Status[] = ["failed", "bounced", "deferred", "unknown"];

/** Whether a bulk retry sends emails with this status again. */
export const isRetryable = (status: Status): boolean => RETRYABLE.includes(status);
