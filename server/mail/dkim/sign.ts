import { createHash, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import type { DkimAlgorithm } from "./key";
import { nameOfField, readParts, relaxBody, relaxField } from "./relaxed";

/** A key of a domain, ready to sign with. `selector` and `domain` name the record that has its other half. */
export type SigningKey = {
  algorithm: DkimAlgorithm;
  domain: string;
  selector: string;
  privateKey: KeyObject;
};

/**
 * The fields that a signature covers. Those that are `closed` are named once more than they occur, which makes the
 * signature void as soon as somebody adds one (RFC 6376 section 8.15); the others are covered where they are, since
 * lists and forwarders add them in good faith.
 */
const COVERED: readonly (readonly [name: string, how: "closed" | "open"])[] = [
  ["from", "closed"],
  ["reply-to", "closed"],
  ["to", "closed"],
  ["cc", "closed"],
  ["subject", "closed"],
  ["date", "closed"],
  ["message-id", "closed"],
  ["mime-version", "closed"],
  ["content-type", "closed"],
  ["content-transfer-encoding", "closed"],
  ["content-disposition", "open"],
  ["content-id", "open"],
  ["in-reply-to", "open"],
  ["references", "open"],
  ["list-unsubscribe", "closed"],
  ["list-unsubscribe-post", "closed"],
  ["list-id", "open"],
  ["list-help", "open"],
  ["list-subscribe", "open"],
  ["list-post", "open"],
  ["list-owner", "open"],
  ["list-archive", "open"],
  ["feedback-id", "open"],
];

const lineMax = 76;
const signAsync = promisify<string, Buffer, KeyObject, Buffer>(sign);

/**
 * The message with a DKIM-Signature (RFC 6376, relaxed/relaxed, the whole body) of each key on top, in their order. The same
 * message, keys and time give the same bytes, as both algorithms are deterministic. The work of RSA is done in the thread
 * pool. Without keys it is the message as it came.
 */
export async function signMessage(
  bytes: Uint8Array,
  keys: readonly SigningKey[],
  signedAt: Date,
): Promise<Uint8Array> {
  if (keys.length === 0) return bytes;
  const { fields, body } = readParts(bytes);
  const bodyHash = createHash("sha256").update(relaxBody(body)).digest("base64");
  const names = coveredNames(fields);
  const signatures = await Promise.all(
    keys.map(async (key) => {
      const unsigned = signatureField(key, { names, bodyHash, signedAt });
      return unsigned + fold(await signData(key, signedData(fields, names, unsigned)));
    }),
  );
  return Buffer.concat([Buffer.from(signatures.map((field) => `${field}\r\n`).join(""), "latin1"), bytes]);
}

/**
 * What a signature is made of (RFC 6376 section 3.7): the named fields, of those with one name the lowest first and absent
 * ones as nothing, then the signature's own field, its `b=` empty.
 */
export function signedData(fields: readonly string[], names: readonly string[], unsigned: string): Buffer {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const name = nameOfField(field);
    byName.set(name, [...(byName.get(name) ?? []), field]);
  }
  let text = "";
  for (const name of names) {
    const field = byName.get(name)?.pop();
    if (field !== undefined) text += `${relaxField(field)}\r\n`;
  }
  return Buffer.from(text + relaxField(unsigned), "latin1");
}

/** The signature in base64. Ed25519 signs the SHA-256 of the data (RFC 8463 section 3), and sooner than a thread wakes. */
export async function signData({ algorithm, privateKey }: SigningKey, data: Buffer): Promise<string> {
  const signature =
    algorithm === "rsa"
      ? await signAsync("sha256", data, privateKey)
      : sign(null, createHash("sha256").update(data).digest(), privateKey);
  return signature.toString("base64");
}

function coveredNames(fields: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const field of fields) {
    const name = nameOfField(field);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return COVERED.flatMap(([name, how]) => {
    const times = (counts.get(name) ?? 0) + (how === "closed" ? 1 : 0);
    return Array<string>(times).fill(name);
  });
}

type Signed = { names: readonly string[]; bodyHash: string; signedAt: Date };

/** The field up to and with `b=`. */
function signatureField(
  { algorithm, domain, selector }: SigningKey,
  { names, bodyHash, signedAt }: Signed,
): string {
  const seconds = Math.floor(signedAt.getTime() / 1000);
  const tags = [
    `DKIM-Signature: v=1; a=${algorithm}-sha256; c=relaxed/relaxed; t=${seconds};`,
    `d=${domain};`,
    `s=${selector};`,
    ...foldNames(names),
    `bh=${bodyHash};`,
    "b=",
  ];
  return tags.join("\r\n ");
}

/** `h=` in lines; a blank may stand beside each colon (RFC 6376 section 3.5). */
function foldNames(names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = "h=";
  for (const [index, name] of names.entries()) {
    const part = name + (index === names.length - 1 ? ";" : ":");
    if (line.length + part.length >= lineMax) {
      lines.push(line);
      line = "";
    }
    line += part;
  }
  return [...lines, line];
}

/** Base64 in lines, of which the first stands behind `b=`. */
const fold = (text: string): string => text.replace(/.{72}(?=.)/g, "$&\r\n ");
