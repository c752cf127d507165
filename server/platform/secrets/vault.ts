import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Keyring, RingKey } from "./keyring";
import { deriveKey } from "./secrets";

const ivBytes = 12;
const tagBytes = 16;
/**
 * The form of an encrypted text: `k1.<base64>.<key id>`. Release 0.2.0 wrote no key id, and ignores it when
 * it reads.
 */
const FORM = "k1";

/**
 * The location of an encrypted text: table, column, row and team. The location is authenticated, so a text
 * copied to another row cannot be decrypted.
 */
export type SealedLocation = { table: string; column: string; id: string; teamId: string };

export type Vault = ReturnType<typeof createVault>;

/** A text was encrypted with a secret that is not configured. */
export class UnknownSecretError extends Error {
  override name = "UnknownSecretError";
}

/** The id of the secret that a text was encrypted with; null for a text of release 0.2.0. */
export const keyIdOfSealed = (sealed: string): string | null => sealed.split(".")[2] ?? null;

/**
 * Encrypts secrets that must be read again (DKIM keys, webhook secrets) at rest: AES-256-GCM with a random
 * 96-bit IV (NIST SP 800-38D) and a key derived from a secret of the installation. Each text has the id of
 * its secret.
 */
export function createVault(ring: Keyring) {
  const derived = new Map(
    ring.keys.map(({ id, secret }) => [id, Buffer.from(deriveKey(secret, "vault"), "hex")]),
  );
  const cipherKeyOf = ({ id }: RingKey): Buffer => derived.get(id) as Buffer;
  const locationBytes = ({ table, column, id, teamId }: SealedLocation) =>
    Buffer.from([table, column, id, teamId].join("\n"));
  const decrypt = (bytes: Buffer, key: RingKey, location: SealedLocation): string => {
    const decipher = createDecipheriv("aes-256-gcm", cipherKeyOf(key), bytes.subarray(0, ivBytes))
      .setAAD(locationBytes(location))
      .setAuthTag(bytes.subarray(bytes.length - tagBytes));
    return Buffer.concat([
      decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes)),
      decipher.final(),
    ]).toString("utf8");
  };
  return {
    /** AppError `unavailable` until the database has admitted the secrets. */
    seal(text: string, location: SealedLocation): string {
      ring.requireChecked();
      const key = ring.active();
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", cipherKeyOf(key), iv).setAAD(locationBytes(location));
      const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${FORM}.${sealed.toString("base64")}.${key.id}`;
    },
    /** Throws unless the text was encrypted for this location with one of the secrets. */
    open(sealed: string, location: SealedLocation): string {
      ring.requireUsable();
      const [form, blob, keyId] = sealed.split(".");
      if (form !== FORM || !blob) throw new Error("encrypted text has an unknown format");
      const bytes = Buffer.from(blob, "base64");
      if (keyId !== undefined) {
        const key = ring.find(keyId);
        if (key) return decrypt(bytes, key, location);
        throw new UnknownSecretError(
          `The value was encrypted with the secret ${keyId}, which is not configured. Add it to BACKSTAMP_SECRETS_OLD.`,
        );
      }
      for (const key of ring.keys) {
        try {
          return decrypt(bytes, key, location);
        } catch {
          // Another secret may open it.
        }
      }
      throw new UnknownSecretError("The value was encrypted with another secret, or for another row.");
    },
  };
}
