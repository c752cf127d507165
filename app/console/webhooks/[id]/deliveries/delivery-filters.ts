import { parseAsStringLiteral } from "nuqs/server";
import { CURSOR } from "../../../_ui/list/list-filters";
import { EVENT_NAMES } from "../../events";

/** The URL parameters of the list of event deliveries. */
export const deliveryFilters = {
  status: parseAsStringLiteral(["pending", "attempting", "success", "failed"] as const),
  type: parseAsStringLiteral(EVENT_NAMES),
  ...CURSOR,
};
