import type { SealedLocation } from "#server/platform/secrets/vault";

type Place = {
  /** The column of the row's id. */
  id?: string;
  /** The column of the row's team. Default: the values belong to no team. */
  team?: string | null;
  /** The table and the column that the values are bound to, if they have moved since. */
  boundTo?: Pick<SealedLocation, "table" | "column">;
};

/** A column with values that the vault encrypted. The operator knows the values by `name`. */
export type SealedColumn = ReturnType<typeof sealed>;

const sealed = (
  name: string,
  table: string,
  column: string,
  { id = "id", team = null, boundTo = { table, column } }: Place = {},
) => ({
  name,
  table,
  column,
  id,
  team,
  locationOf: (row: Pick<SealedLocation, "id" | "teamId">): SealedLocation => ({ ...boundTo, ...row }),
});

const team = "team_id";

/** Every column with encrypted values. A new one is added here, or its values do not follow a new secret. */
export const SEALED_COLUMNS = [
  sealed("relays", "relays", "url"),
  sealed("callback secrets", "relays", "callback_secret"),
  sealed("DKIM keys", "dkim_keys", "private_key", {
    team,
    boundTo: { table: "domains", column: "dkim_private_key" },
  }),
  sealed("webhook secrets", "webhooks", "secret", { team }),
  sealed("previous webhook secrets", "webhooks", "previous_secret", { team }),
  sealed("authenticator apps", "totp_factors", "secret", { id: "user_id", team: "user_id" }),
  sealed("system emails", "system_mails", "details"),
];
