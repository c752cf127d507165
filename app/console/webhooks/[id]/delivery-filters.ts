import { parseAsString, parseAsStringLiteral } from "nuqs/server";
import { EVENT_NAMES } from "../events";

const STATUSES = ["pending", "attempting", "success", "failed"] as const;

/** The query parameters of the list of event deliveries. */
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

/** The input of the list query. Server and browser must use the same input to share the cached result. */
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
