import type { SealedLocation } from "./vault";

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
  /** What binds the value of a row to it. */
  locationOf: (row: { id: string; teamId?: string }): SealedLocation => ({ ...boundTo, teamId: "", ...row }),
});

const team = "team_id";

/**
 * Every column with encrypted values. What writes or reads one finds its location here, and a rotation of the
 * secret encrypts all of them again.
 */
export const SEALED = {
  // Without a team, because a relay may be shared by the installation.
  relayUrl: sealed("relays", "relays", "url"),
  callbackSecret: sealed("callback secrets", "relays", "callback_secret"),
  dkimKey: sealed("DKIM keys", "dkim_keys", "private_key", {
    team,
    boundTo: { table: "domains", column: "dkim_private_key" },
  }),
  signingSecret: sealed("webhook secrets", "webhooks", "secret", { team }),
  previousSigningSecret: sealed("previous webhook secrets", "webhooks", "previous_secret", { team }),
  // A user can be in many teams or in none, so the user is bound in place of the team.
  totpSecret: sealed("authenticator apps", "totp_factors", "secret", { id: "user_id", team: "user_id" }),
  systemMail: sealed("system emails", "system_mails", "details"),
};

export const SEALED_COLUMNS: readonly SealedColumn[] = Object.values(SEALED);
