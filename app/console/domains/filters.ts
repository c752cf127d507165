import { parseAsString } from "nuqs/server";
import { CURSOR } from "../_ui/list/list-filters";

/** The query parameters of the page. */
export const domainFilters = { name: parseAsString, ...CURSOR };
