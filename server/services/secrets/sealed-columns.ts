import type { SealedLocation } from "#server/platform/secrets/vault";
import { sealedLocationOfTotp } from "../account/factors/totp";
import { sealedLocationOfDkimKey } from "../domains/dkim/keys";
import { sealedLocationOfRelay } from "../relays/seal";
import { sealedLocationOfDetails } from "../system-mail/details";
import { sealedLocationOfSigningSecret } from "../webhooks/signing";

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
  locationOf(row: Row): SealedLocation;
};

/** Every column with encrypted values. A new one is added here, or its values do not follow a new secret. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    name: "relays",
    table: "relays",
    column: "url",
    hasTeam: false,
    locationOf: ({ id }) => sealedLocationOfRelay("url", id),
  },
  {
    name: "callback secrets",
    table: "relays",
    column: "callback_secret",
    hasTeam: false,
    locationOf: ({ id }) => sealedLocationOfRelay("callback_secret", id),
  },
  {
    name: "DKIM keys",
    table: "dkim_keys",
    column: "private_key",
    hasTeam: true,
    locationOf: ({ teamId, id }) => sealedLocationOfDkimKey(teamId, id),
  },
  {
    name: "webhook secrets",
    table: "webhooks",
    column: "secret",
    hasTeam: true,
    locationOf: (row) => sealedLocationOfSigningSecret(row, "secret"),
  },
  {
    name: "previous webhook secrets",
    table: "webhooks",
    column: "previous_secret",
    hasTeam: true,
    locationOf: (row) => sealedLocationOfSigningSecret(row, "previous_secret"),
  },
  {
    name: "authenticator apps",
    table: "totp_factors",
    column: "secret",
    id: "user_id",
    hasTeam: false,
    locationOf: ({ id }) => sealedLocationOfTotp(id),
  },
  {
    name: "system emails",
    table: "system_mails",
    column: "details",
    hasTeam: false,
    locationOf: ({ id }) => sealedLocationOfDetails(id),
  },
];
