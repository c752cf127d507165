import { parseAsString, parseAsStringLiteral } from "nuqs/server";

/** Time ranges that end now. */
const WITHIN = ["24h", "7d", "30d", "90d"] as const;
export const WITHIN_OPTIONS = [
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
  { value: "90d", label: "Last 90 days" },
] as const;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export const METHOD_OPTIONS = METHODS.map((value) => ({ value, label: value }));

const STATUSES = ["2xx", "4xx", "5xx", "refused"] as const;
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

const cursor = { after: parseAsString, before: parseAsString };

/** The URL parameters of the list of changes. */
export const changeFilters = {
  actor: parseAsString,
  action: parseAsString,
  within: parseAsStringLiteral(WITHIN),
  ...cursor,
};
export type ChangeFilters = {
  actor: string | null;
  action: string | null;
  within: (typeof WITHIN)[number] | null;
  after: string | null;
  before: string | null;
};

/** The URL parameters of the list of API requests. */
export const requestFilters = {
  key: parseAsString,
  method: parseAsStringLiteral(METHODS),
  status: parseAsStringLiteral(STATUSES),
  ...cursor,
};
export type RequestFilters = {
  key: string | null;
  method: (typeof METHODS)[number] | null;
  status: (typeof STATUSES)[number] | null;
  after: string | null;
  before: string | null;
};

const cursorOf = ({ after, before }: { after: string | null; before: string | null }) => ({
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});

/** The input of the list query. Server and browser must use the same input to share the prefetched result. */
export const changesInput = (team: string, filters: ChangeFilters) => ({
  team,
  ...activeChangeFilters(filters),
  ...cursorOf(filters),
});
export const requestsInput = (team: string, filters: RequestFilters) => ({
  team,
  ...activeRequestFilters(filters),
  ...cursorOf(filters),
});

/** The active filters without the cursor. The export uses them too. */
export const activeChangeFilters = ({ actor, action, within }: ChangeFilters) => ({
  ...(actor ? { actor } : {}),
  ...(action ? { action } : {}),
  ...(within ? { within } : {}),
});
export const activeRequestFilters = ({ key, method, status }: RequestFilters) => ({
  ...(key ? { key } : {}),
  ...(method ? { method } : {}),
  ...(status ? { status } : {}),
});
