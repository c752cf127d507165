import type { Place } from "#server/vault";

/** Where a secret of a relay stands. No team is named: a relay may be the whole installation's. */
export const placeOfRelay = (column: "url" | "callback_secret", id: string): Place => ({
  table: "relays",
  column,
  id,
  teamId: "",
});
