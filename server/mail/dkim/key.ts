import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

/** How a key signs: RSA of 2048 bits (RFC 8301) for all receivers, Ed25519 (RFC 8463) beside it for those that know it. */
export const DKIM_ALGORITHMS = ["rsa", "ed25519"] as const;
export type DkimAlgorithm = (typeof DKIM_ALGORITHMS)[number];

export type DkimKeyPair = {
  /** PKCS #8, PEM. */
  privateKey: string;
  /** As `p=` carries it, in base64: the SubjectPublicKeyInfo of an RSA key, the 32 bytes of an Ed25519 key. */
  publicKey: string;
};

const rawKeyBytes = 32;

/** A new pair, made off the event loop: RSA takes some tenths of a second, Ed25519 no time. */
export async function createDkimKeyPair(algorithm: DkimAlgorithm): Promise<DkimKeyPair> {
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

/** A private key as signing wants it. Throws for a PEM that is none, or of another algorithm. */
export function readPrivateKey(pem: string, algorithm: DkimAlgorithm): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== algorithm) throw new TypeError(`a DKIM key that is not ${algorithm}`);
  return key;
}

/** The text of the key's TXT record (RFC 6376 section 3.6.1). That of RSA is longer than one string of DNS. */
export const formatDkimRecord = (algorithm: DkimAlgorithm, publicKey: string): string =>
  `v=DKIM1; k=${algorithm}; p=${publicKey}`;

/** Whether a verifier that reads this TXT record would find that key and accept it for mail. */
export function isDkimRecordOf(text: string, algorithm: DkimAlgorithm, publicKey: string): boolean {
  const tags = readDkimTags(text);
  const has = (name: string, wanted: string, usual = wanted) =>
    (tags.get(name) ?? usual).split(":").some((value) => value.trim() === wanted);
  const services = (tags.get("s") ?? "*").split(":").map((value) => value.trim());
  return (
    tags.get("p")?.replace(/\s/g, "") === publicKey &&
    has("v", "DKIM1") &&
    has("k", algorithm, "rsa") &&
    has("h", "sha256") &&
    (services.includes("*") || services.includes("email"))
  );
}

/** Whether a text is meant as a key record at all. */
export const isDkimRecord = (text: string): boolean => readDkimTags(text).has("p");

/** RFC 6376 section 3.2: `name=value` between semicolons, blanks around both ignored; the first of a name counts. */
function readDkimTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at > 0 && !tags.has(name)) tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}
