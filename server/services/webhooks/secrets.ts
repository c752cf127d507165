import { randomBytes } from "node:crypto";
import type { webhooks } from "#db/schema/webhooks";
import type { Place, Vault } from "#server/vault";

type Row = Pick<typeof webhooks.$inferSelect, "id" | "teamId">;
type Column = "secret" | "previous_secret";

/** 24 bytes fill base64 without padding, which one of the clients' decoders does not take. */
const secretBytes = 24;

/** How long the secret before a rotation goes on signing, so that receivers can change theirs in peace. */
export const previousLivesHours = 24;

/** A new signing secret as receivers know it: `whsec_` and standard base64 (Standard Webhooks). */
export const mintSigningSecret = (): string => `whsec_${randomBytes(secretBytes).toString("base64")}`;

const placeOf = (row: Row, column: Column): Place => ({
  table: "webhooks",
  column,
  id: row.id,
  teamId: row.teamId,
});

/** The form in which a secret is kept. It opens only in this row and column. */
export const sealSigningSecret = (vault: Vault, row: Row, column: Column, secret: string): string =>
  vault.seal(secret, placeOf(row, column));

/** The secret itself. Throws where it was sealed by another installation or for another row. */
export const openSigningSecret = (vault: Vault, row: Row, column: Column, sealed: string): string =>
  vault.open(sealed, placeOf(row, column));
