import { parseAsString, parseAsStringLiteral } from "nuqs/server";

/** Spans of time that end now. */
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
  { value: "2xx", label: "Done (2xx)" },
  { value: "4xx", label: "Turned down (4xx)" },
  { value: "refused", label: "Key refused (401, 403, 429)" },
  { value: "5xx", label: "Failed here (5xx)" },
] as const;

/** Kinds of things by which changes are told apart. */
export const NOUN_OPTIONS = [
  { value: "email", label: "Emails" },
  { value: "template", label: "Templates" },
  { value: "domain", label: "Domains" },
  { value: "key", label: "API keys" },
  { value: "webhook", label: "Webhooks" },
  { value: "suppression", label: "Suppressions" },
  { value: "member", label: "Members" },
  { value: "invitation", label: "Invitations" },
  { value: "team", label: "The team" },
] as const;

const place = { after: parseAsString, before: parseAsString };

/** What of the log of changes stands in the page's address. */
export const changeFilters = {
  actor: parseAsString,
  action: parseAsString,
  within: parseAsStringLiteral(WITHIN),
  ...place,
};
export type ChangeFilters = {
  actor: string | null;
  action: string | null;
  within: (typeof WITHIN)[number] | null;
  after: string | null;
  before: string | null;
};

/** What of the record of calls stands in the page's address. */
export const requestFilters = {
  key: parseAsString,
  method: parseAsStringLiteral(METHODS),
  status: parseAsStringLiteral(STATUSES),
  ...place,
};
export type RequestFilters = {
  key: string | null;
  method: (typeof METHODS)[number] | null;
  status: (typeof STATUSES)[number] | null;
  after: string | null;
  before: string | null;
};

const startOf = ({ after, before }: { after: string | null; before: string | null }) => ({
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export const changesInput = (team: string, filters: ChangeFilters) => ({
  team,
  ...changesWanted(filters),
  ...startOf(filters),
});
export const requestsInput = (team: string, filters: RequestFilters) => ({
  team,
  ...requestsWanted(filters),
  ...startOf(filters),
});

/** What of them narrows the list, as its export wants it too. */
export const changesWanted = ({ actor, action, within }: ChangeFilters) => ({
  ...(actor ? { actor } : {}),
  ...(action ? { action } : {}),
  ...(within ? { within } : {}),
});
export const requestsWanted = ({ key, method, status }: RequestFilters) => ({
  ...(key ? { key } : {}),
  ...(method ? { method } : {}),
  ...(status ? { status } : {}),
});
