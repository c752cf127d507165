import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey } from "./secrets";

const ivBytes = 12;
const tagBytes = 16;
/** Identifies the key in each encrypted text, for a later key rotation. */
const KEY_ID = "k1";

/**
 * The location of an encrypted text: table, column, row and team. The location is authenticated, so a text copied to
 * another row cannot be decrypted.
 */
export type Place = { table: string; column: string; id: string; teamId: string };

export type Vault = ReturnType<typeof createVault>;

/**
 * Encrypts secrets that must be read again (DKIM keys, webhook secrets) at rest: AES-256-GCM with a random 96-bit IV (NIST SP
 * 800-38D) and a key derived from the installation's secret.
 */
export function createVault(secret: string) {
  const key = Buffer.from(deriveKey(secret, "vault"), "hex");
  const placeBytes = ({ table, column, id, teamId }: Place) =>
    Buffer.from([table, column, id, teamId].join("\n"));
  return {
    seal(text: string, place: Place): string {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(placeBytes(place));
      const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${KEY_ID}.${sealed.toString("base64")}`;
    },
    /** Throws unless the text was encrypted for this location with this key. */
    open(sealed: string, place: Place): string {
      const [keyId, blob] = sealed.split(".");
      if (keyId !== KEY_ID || !blob) throw new Error("encrypted text has an unknown format");
      const bytes = Buffer.from(blob, "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivBytes))
        .setAAD(placeBytes(place))
        .setAuthTag(bytes.subarray(bytes.length - tagBytes));
      return Buffer.concat([
        decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes)),
        decipher.final(),
      ]).toString("utf8");
    },
  };
}
