import { parseAsString, parseAsStringLiteral } from "nuqs/server";

/** What of the list stands in the page's address. */
export const keyFilters = {
  state: parseAsStringLiteral(["revoked"] as const),
  after: parseAsString,
  before: parseAsString,
};

export type KeyFilters = { state: "revoked" | null; after: string | null; before: string | null };

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export const keyListInput = (team: string, { state, after, before }: KeyFilters) => ({
  team,
  ...(state ? { state } : {}),
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
