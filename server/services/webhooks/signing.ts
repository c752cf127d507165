import { createHmac, randomBytes } from "node:crypto";
import type { webhooks } from "#db/schema/webhooks";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import type { Vault } from "#server/platform/secrets/vault";

type Row = Pick<typeof webhooks.$inferSelect, "id" | "teamId">;
type Column = keyof typeof COLUMNS;

/** 24 bytes encode to base64 without padding, which one client library cannot decode. */
const secretBytes = 24;

/** How long the previous secret continues to sign after a rotation, which gives receivers time to switch. */
export const previousSecretHours = 24;

/** A new signing secret in the format of Standard Webhooks: `whsec_` and standard base64. */
export const createSigningSecret = (): string => `whsec_${randomBytes(secretBytes).toString("base64")}`;

const COLUMNS = { secret: SEALED.signingSecret, previous_secret: SEALED.previousSigningSecret };

/** Encrypts a secret for storage. It can be decrypted only for this row and column. */
export const sealSigningSecret = (vault: Vault, row: Row, column: Column, secret: string): string =>
  vault.seal(secret, COLUMNS[column].locationOf({ id: row.id, teamId: row.teamId }));

/** Decrypts a stored secret. Throws if it was sealed by another installation or for another row. */
export const openSigningSecret = (vault: Vault, row: Row, column: Column, sealed: string): string =>
  vault.open(sealed, COLUMNS[column].locationOf({ id: row.id, teamId: row.teamId }));

export type Signing = {
  /** The same in every attempt, so receivers can detect duplicates. */
  id: string;
  /** The time of this attempt: receivers reject timestamps older than five minutes. */
  timestampSeconds: number;
  /** The exact request body, as text. */
  body: string;
  /** The active secrets, `whsec_…`. Each one signs. */
  secrets: readonly string[];
};

/**
 * The headers that authenticate a call (Standard Webhooks). Each is sent twice, because several common client
 * libraries read only the older `svix-` names.
 */
export function signatureHeaders({ id, timestampSeconds, body, secrets }: Signing): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const digest = createHmac("sha256", key).update(`${id}.${timestampSeconds}.${body}`).digest("base64");
    return `v1,${digest}`;
  });
  const values = { id, timestamp: String(timestampSeconds), signature: signatures.join(" ") };
  return Object.fromEntries(
    ["webhook", "svix"].flatMap((prefix) =>
      Object.entries(values).map(([name, value]) => [`${prefix}-${name}`, value]),
    ),
  );
}
