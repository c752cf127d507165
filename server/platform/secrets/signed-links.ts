import { createHmac, timingSafeEqual } from "node:crypto";
import { parse, stringify } from "uuid";
import type { Keyring } from "./keyring";
import { deriveKey } from "./secrets";

const macBytes = 32;
const timeBytes = 6;
const idBytes = 16;

/** The path of a public route whose last segment is the token: `/api/attachments/{token}`. */
export type LinkPath = `/api/${string}/{token}`;

export type SignedLinks = ReturnType<typeof createSignedLinks>;

/**
 * Signed links that give access to one resource without sign-in, until they expire. Tokens are authenticated
 * by HMAC-SHA-256 (RFC 2104) over path, expiry and ids, with a key derived from the active secret; those of
 * the other secrets are accepted. Links are not stored, so they cannot be revoked. `origin` is the public
 * origin of the installation.
 */
export function createSignedLinks(ring: Keyring, origin: string) {
  const macKeys = new Map(
    ring.keys.map(({ id, secret }) => [id, Buffer.from(deriveKey(secret, "signed-links"), "hex")]),
  );
  const macOf = (key: Buffer, path: LinkPath, signed: Uint8Array) =>
    createHmac("sha256", key).update(`${path}\n`).update(signed).digest();
  return {
    /** Creates a link to the resource with these ids (UUIDs). */
    make(path: LinkPath, ids: readonly string[], expiresAt: Date): string {
      const time = Buffer.alloc(timeBytes);
      time.writeUIntBE(expiresAt.getTime(), 0, timeBytes);
      const signed = Buffer.concat([time, ...ids.map((id) => parse(id))]);
      const key = macKeys.get(ring.active().id) as Buffer;
      const token = Buffer.concat([macOf(key, path, signed), signed]).toString("base64url");
      return `${origin}${path.replace("{token}", token)}`;
    },
    /** The ids in a valid, unexpired token for this path; null for any other text. */
    open(path: LinkPath, token: string, now: Date): string[] | null {
      const bytes = Buffer.from(token, "base64url");
      const signed = bytes.subarray(macBytes + timeBytes);
      // Several base64url texts decode to the same bytes. Only the canonical one is accepted.
      if (bytes.length < macBytes + timeBytes || signed.length % idBytes !== 0) return null;
      if (bytes.toString("base64url") !== token) return null;
      const [mac, content] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
      if (![...macKeys.values()].some((key) => timingSafeEqual(mac, macOf(key, path, content)))) return null;
      if (bytes.readUIntBE(macBytes, timeBytes) <= now.getTime()) return null;
      return Array.from({ length: signed.length / idBytes }, (_, n) =>
        stringify(signed.subarray(n * idBytes, (n + 1) * idBytes)),
      );
    },
  };
}
