import { parseAsString, parseAsStringLiteral } from "nuqs/server";
import { EVENT_NAMES } from "../events";

const STATUSES = ["pending", "attempting", "success", "failed"] as const;

/** What of the list of events stands in the page's address. */
export const deliveryFilters = {
  status: parseAsStringLiteral(STATUSES),
  type: parseAsStringLiteral(EVENT_NAMES),
  after: parseAsString,
  before: parseAsString,
};

export type DeliveryFilters = {
  status: (typeof STATUSES)[number] | null;
  type: (typeof EVENT_NAMES)[number] | null;
  after: string | null;
  before: string | null;
};

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export const deliveryListInput = (
  team: string,
  id: string,
  { status, type, after, before }: DeliveryFilters,
) => ({
  team,
  id,
  ...(status ? { status } : {}),
  ...(type ? { type } : {}),
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
