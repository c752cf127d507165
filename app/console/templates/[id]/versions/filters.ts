import { parseAsInteger, parseAsString } from "nuqs/server";

/** What of the page stands in its address: which version is looked at, and with which it is compared. */
export const versionFilters = {
  version: parseAsInteger,
  against: parseAsInteger,
  after: parseAsString,
  before: parseAsString,
};

type Filters = { after: string | null; before: string | null };

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export const versionsInput = (team: string, id: string, { after, before }: Filters) => ({
  team,
  id,
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
