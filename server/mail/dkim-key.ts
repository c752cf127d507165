import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

export type DkimKeyPair = {
  /** PKCS #8, PEM. */
  privateKey: string;
  /** Base64 of the SubjectPublicKeyInfo, as `p=` carries it. */
  publicKey: string;
};

/** A new RSA key of 2048 bits (RFC 8301 section 3.2), made off the event loop in some tenths of a second. */
export async function createDkimKeyPair(): Promise<DkimKeyPair> {
  const pair = await generate("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return { privateKey: pair.privateKey, publicKey: pair.publicKey.toString("base64") };
}

/** The text of the key's TXT record (RFC 6376 section 3.6.1). Longer than one string of DNS, so it is published in two. */
export const formatDkimRecord = (publicKey: string): string => `v=DKIM1; k=rsa; p=${publicKey}`;

/** Whether a verifier that reads this TXT record would find that key and accept it for mail. */
export function isDkimRecordOf(text: string, publicKey: string): boolean {
  const tags = readDkimTags(text);
  const has = (name: string, wanted: string) =>
    (tags.get(name) ?? wanted).split(":").some((value) => value.trim() === wanted);
  const services = (tags.get("s") ?? "*").split(":").map((value) => value.trim());
  return (
    tags.get("p")?.replace(/\s/g, "") === publicKey &&
    has("v", "DKIM1") &&
    has("k", "rsa") &&
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
