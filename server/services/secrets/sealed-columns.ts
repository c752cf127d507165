import type { Place } from "#server/platform/secrets/vault";
import { vaultPlaceOfTotp } from "../account/factors/totp";
import { dkimKeyPlace } from "../domains/dkim/keys";
import { vaultPlaceOfRelay } from "../relays/seal";
import { vaultPlaceOfDetails } from "../system-mail/details";
import { placeOfSigningSecret } from "../webhooks/signing";

type Row = { id: string; teamId: string };

/** A column with values that the vault encrypted. */
export type SealedColumn = {
  /** The values, as the operator knows them. */
  name: string;
  table: string;
  column: string;
  /** The column of the row's id. Default: `id`. */
  id?: string;
  hasTeam: boolean;
  placeOf(row: Row): Place;
};

/** Every column with encrypted values. A new one is added here, or its values do not follow a new secret. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    name: "relays",
    table: "relays",
    column: "url",
    hasTeam: false,
    placeOf: ({ id }) => vaultPlaceOfRelay("url", id),
  },
  {
    name: "callback secrets",
    table: "relays",
    column: "callback_secret",
    hasTeam: false,
    placeOf: ({ id }) => vaultPlaceOfRelay("callback_secret", id),
  },
  {
    name: "DKIM keys",
    table: "dkim_keys",
    column: "private_key",
    hasTeam: true,
    placeOf: ({ teamId, id }) => dkimKeyPlace(teamId, id),
  },
  {
    name: "webhook secrets",
    table: "webhooks",
    column: "secret",
    hasTeam: true,
    placeOf: (row) => placeOfSigningSecret(row, "secret"),
  },
  {
    name: "previous webhook secrets",
    table: "webhooks",
    column: "previous_secret",
    hasTeam: true,
    placeOf: (row) => placeOfSigningSecret(row, "previous_secret"),
  },
  {
    name: "authenticator apps",
    table: "totp_factors",
    column: "secret",
    id: "user_id",
    hasTeam: false,
    placeOf: ({ id }) => vaultPlaceOfTotp(id),
  },
  {
    name: "system emails",
    table: "system_mails",
    column: "details",
    hasTeam: false,
    placeOf: ({ id }) => vaultPlaceOfDetails(id),
  },
];
