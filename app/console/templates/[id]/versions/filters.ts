import { parseAsInteger } from "nuqs/server";
import { activeFilters, CURSOR } from "../../../_ui/list/list-filters";
import type { PageStart } from "../../../_ui/list/pager";

/** The URL parameters: the selected version, the version to compare it with, and the cursor. */
export const versionFilters = { version: parseAsInteger, against: parseAsInteger, ...CURSOR };

/** The input of the list query. Server and browser must use the same input to share the prefetched result. */
export const versionsInput = (team: string, id: string, { after, before }: PageStart) => ({
  team,
  id,
  ...activeFilters({ after, before }),
});
