import type { Place } from "#server/platform/secrets/vault";

/**
 * Identifies a relay's secret in the vault. Contains no team, because a relay may be shared by the
 * installation.
 */
export const vaultPlaceOfRelay = (column: "url" | "callback_secret", id: string): Place => ({
  table: "relays",
  column,
  id,
  teamId: "",
});
