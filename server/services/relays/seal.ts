import type { SealedLocation } from "#server/platform/secrets/vault";

/**
 * Identifies a relay's secret in the vault. Contains no team, because a relay may be shared by the
 * installation.
 */
export const sealedLocationOfRelay = (column: "url" | "callback_secret", id: string): SealedLocation => ({
  table: "relays",
  column,
  id,
  teamId: "",
});
