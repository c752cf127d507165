import { parseAsString } from "nuqs/server";
import { CURSOR } from "../../_ui/list/list-filters";

/** The URL parameters of the list of teams. */
export const teamFilters = { search: parseAsString, ...CURSOR };
