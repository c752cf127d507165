import { hash, hkdfSync, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 12;
const SECRET_LENGTH = 43; // 256 bits in base 62
const CRC_LENGTH = 6; // 32 bits in base 62
const TOKEN = new RegExp(
  `^re_([0-9A-Za-z]{${ID_LENGTH}})_([0-9A-Za-z]{${SECRET_LENGTH}})_([0-9A-Za-z]{${CRC_LENGTH}})$`,
);

function base62(number: Uint8Array, length: number): string {
  let value = BigInt(`0x${Buffer.from(number).toString("hex")}`);
  let text = "";
  for (let i = 0; i < length; i++) {
    text = BASE62[Number(value % 62n)] + text;
    value /= 62n;
  }
  return text;
}

/** Computed for each request, so without BigInt. */
function checksumOf(body: string): string {
  let value = crc32(body);
  let text = "";
  for (let i = 0; i < CRC_LENGTH; i++) {
    text = BASE62.charAt(value % 62) + text;
    value = Math.floor(value / 62);
  }
  return text;
}

export type MintedToken = { token: string; tokenId: string; secretHash: Uint8Array };

/**
 * Creates an API key token, `re_<id>_<secret>_<crc>`. The secret has 256 random bits. The id is public. The
 * checksum lets secret scanners and the API detect a mistyped token without a database query.
 */
export function mintToken(): MintedToken {
  const tokenId = base62(randomBytes(9), ID_LENGTH);
  const secret = base62(randomBytes(32), SECRET_LENGTH);
  const body = `re_${tokenId}_${secret}`;
  return {
    token: `${body}_${checksumOf(body)}`,
    tokenId,
    secretHash: hash("sha256", secret, "buffer"),
  };
}

/** SHA-256 of the secret in a well-formed token; null for any other text. */
export function secretHashOf(token: string): Uint8Array | null {
  const [, id, secret, crc] = TOKEN.exec(token) ?? [];
  if (!id || !secret || checksumOf(`re_${id}_${secret}`) !== crc) return null;
  return hash("sha256", secret, "buffer");
}

export type DerivedKeyPurpose =
  | "next-auth"
  | "vault"
  | "signed-links"
  | "unsubscribe"
  | "return-path"
  | "report-address"
  | "inbound"
  | "opens"
  | "clicks"
  | "alert-webhook"
  | "key-id"
  | "key-check";

/** Derives a 256-bit key for one purpose from the installation's secret (HKDF-SHA-256, RFC 5869), in hex. */
export function deriveKey(secret: string, purpose: DerivedKeyPurpose): string {
  return Buffer.from(hkdfSync("sha256", secret, "backstamp", purpose, 32)).toString("hex");
}
