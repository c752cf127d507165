import { parseAsStringLiteral } from "nuqs/server";
import { CURSOR } from "../_ui/list/list-filters";

/** The URL parameters of the list. */
export const keyFilters = { state: parseAsStringLiteral(["revoked"] as const), ...CURSOR };
