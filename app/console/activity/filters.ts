import { parseAsString, parseAsStringLiteral } from "nuqs/server";
import { CURSOR } from "../_ui/list/list-filters";

/** Time ranges that end now. */
export const WITHIN_OPTIONS = [
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
  { value: "90d", label: "Last 90 days" },
] as const;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "SMTP"] as const;
export const METHOD_OPTIONS = METHODS.map((value) => ({ value, label: value }));

export const STATUS_OPTIONS = [
  { value: "2xx", label: "Success (2xx)" },
  { value: "4xx", label: "Client error (4xx)" },
  { value: "refused", label: "Key rejected (401, 403, 429)" },
  { value: "5xx", label: "Server error (5xx)" },
] as const;

/** Types of targets that changes can be filtered by. */
export const NOUN_OPTIONS = [
  { value: "email", label: "Emails" },
  { value: "template", label: "Templates" },
  { value: "domain", label: "Domains" },
  { value: "key", label: "API keys" },
  { value: "webhook", label: "Webhooks" },
  { value: "suppression", label: "Suppressions" },
  { value: "member", label: "Members" },
  { value: "invitation", label: "Invitations" },
  { value: "team", label: "Team" },
] as const;

/** The URL parameters of the list of changes. */
export const changeFilters = {
  actor: parseAsString,
  action: parseAsString,
  within: parseAsStringLiteral(WITHIN_OPTIONS.map(({ value }) => value)),
  ...CURSOR,
};

/** The URL parameters of the list of API requests. */
export const requestFilters = {
  key: parseAsString,
  email: parseAsString,
  method: parseAsStringLiteral(METHODS),
  status: parseAsStringLiteral(STATUS_OPTIONS.map(({ value }) => value)),
  ...CURSOR,
};
