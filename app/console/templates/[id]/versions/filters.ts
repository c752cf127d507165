import { parseAsInteger, parseAsString } from "nuqs/server";

/** The URL parameters: the selected version, the version to compare it with, and the cursor. */
export const versionFilters = {
  version: parseAsInteger,
  against: parseAsInteger,
  after: parseAsString,
  before: parseAsString,
};

type Filters = { after: string | null; before: string | null };

/** The input of the list query. Server and browser must use the same input to share the prefetched result. */
export const versionsInput = (team: string, id: string, { after, before }: Filters) => ({
  team,
  id,
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
