import { parseAsString, parseAsStringLiteral } from "nuqs/server";
import { CURSOR } from "../_ui/list/list-filters";

export const ORIGINS = ["bounce", "complaint", "manual"] as const;
export type Origin = (typeof ORIGINS)[number];

/** The URL parameters of the page. The export has the same filters, without the cursor. */
export const suppressionFilters = {
  search: parseAsString,
  origin: parseAsStringLiteral(ORIGINS),
  ...CURSOR,
};
