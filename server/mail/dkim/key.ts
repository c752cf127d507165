import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

/**
 * Signature algorithms: RSA with 2048 bits (RFC 8301) for all receivers, and Ed25519 (RFC 8463) for those
 * that support it.
 */
export const DKIM_ALGORITHMS = ["rsa", "ed25519"] as const;
export type DkimAlgorithm = (typeof DKIM_ALGORITHMS)[number];

const rawKeyBytes = 32;

/**
 * Creates a key pair in the thread pool: RSA takes a few hundred milliseconds, Ed25519 less than one. The
 * private key is PKCS #8 in PEM. The public key is the value of `p=` in base64: the SubjectPublicKeyInfo of
 * an RSA key, the 32 bytes of an Ed25519 key.
 */
export async function createDkimKeyPair(
  algorithm: DkimAlgorithm,
): Promise<{ privateKey: string; publicKey: string }> {
  const publicKeyEncoding = { type: "spki", format: "der" } as const;
  const privateKeyEncoding = { type: "pkcs8", format: "pem" } as const;
  if (algorithm === "rsa") {
    const pair = await generate("rsa", { modulusLength: 2048, publicKeyEncoding, privateKeyEncoding });
    return { privateKey: pair.privateKey, publicKey: pair.publicKey.toString("base64") };
  }
  const pair = await generate("ed25519", { publicKeyEncoding, privateKeyEncoding });
  return {
    privateKey: pair.privateKey,
    publicKey: pair.publicKey.subarray(-rawKeyBytes).toString("base64"),
  };
}

/** Parses a private key. Throws if the PEM is invalid or has another algorithm. */
export function parsePrivateKey(pem: string, algorithm: DkimAlgorithm): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== algorithm) throw new TypeError(`The DKIM key is not an ${algorithm} key.`);
  return key;
}

/** The content of the key's TXT record (RFC 6376 section 3.6.1). For RSA it is longer than one DNS string. */
export const formatDkimRecord = (algorithm: DkimAlgorithm, publicKey: string): string =>
  `v=DKIM1; k=${algorithm}; p=${publicKey}`;

/** Whether this TXT record contains the given key and a verifier would accept it for email. */
export function isDkimRecordOf(text: string, algorithm: DkimAlgorithm, publicKey: string): boolean {
  const tags = readDkimTags(text);
  const has = (name: string, expected: string, defaultValue = expected) =>
    (tags.get(name) ?? defaultValue).split(":").some((value) => value.trim() === expected);
  const services = (tags.get("s") ?? "*").split(":").map((value) => value.trim());
  return (
    tags.get("p")?.replace(/\s/g, "") === publicKey &&
    has("v", "DKIM1") &&
    has("k", algorithm, "rsa") &&
    has("h", "sha256") &&
    (services.includes("*") || services.includes("email"))
  );
}

/** Whether a TXT record is a DKIM key record, valid or not. */
export const isDkimRecord = (text: string): boolean => readDkimTags(text).has("p");

/**
 * Parses a tag list (RFC 6376 section 3.2): `name=value` separated by semicolons, trimmed; the first of a
 * name wins.
 */
export function readDkimTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at > 0 && !tags.has(name)) tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}
