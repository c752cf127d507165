import { createHash, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import type { DkimAlgorithm } from "./key";
import { canonicalizeBody, canonicalizeField, getFieldName, splitMessage } from "./relaxed";

/** A domain's signing key. `selector` and `domain` locate the DNS record with the public key. */
export type SigningKey = {
  algorithm: DkimAlgorithm;
  domain: string;
  selector: string;
  privateKey: KeyObject;
};

/**
 * Header fields that a signature covers once more than they occur: an added field of that name then breaks
 * the signature (RFC 6376 section 8.15).
 */
const CLOSED =
  "from reply-to to cc subject date message-id mime-version content-type content-transfer-encoding list-unsubscribe list-unsubscribe-post".split(
    " ",
  );
/**
 * Fields that are covered as often as they occur, because mailing lists and forwarders legitimately add such
 * fields.
 */
const OPEN =
  "content-disposition content-id in-reply-to references list-id list-help list-subscribe list-post list-owner list-archive feedback-id".split(
    " ",
  );

const lineMax = 76;
const signAsync = promisify<string, Buffer, KeyObject, Buffer>(sign);

/**
 * Returns the message with one DKIM-Signature per key on top, in order (RFC 6376, relaxed/relaxed, the whole
 * body). The same message, keys and time give the same bytes, because both algorithms are deterministic. RSA
 * signatures are computed in the thread pool. Without keys the message is returned unchanged.
 */
export async function signMessage(
  bytes: Uint8Array,
  keys: readonly SigningKey[],
  signedAt: Date,
): Promise<Uint8Array> {
  if (keys.length === 0) return bytes;
  const { fields, body } = splitMessage(bytes);
  const bodyHash = createHash("sha256").update(canonicalizeBody(body)).digest("base64");
  const names = listCoveredFields(fields);
  const signatures = await Promise.all(
    keys.map(async (key) => {
      const unsigned = signatureField(key, { names, bodyHash, signedAt });
      return unsigned + fold(await signData(key, formatSignedData(fields, names, unsigned)));
    }),
  );
  return Buffer.concat([Buffer.from(signatures.map((field) => `${field}\r\n`).join(""), "latin1"), bytes]);
}

/**
 * The data to sign (RFC 6376 section 3.7): the named fields, the lowest first among fields of one name,
 * absent ones as an empty string, then the signature field itself with an empty `b=`.
 */
export function formatSignedData(
  fields: readonly string[],
  names: readonly string[],
  unsigned: string,
): Buffer {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const name = getFieldName(field);
    const same = byName.get(name);
    if (same) same.push(field);
    else byName.set(name, [field]);
  }
  let text = "";
  for (const name of names) {
    const field = byName.get(name)?.pop();
    if (field !== undefined) text += `${canonicalizeField(field)}\r\n`;
  }
  return Buffer.from(text + canonicalizeField(unsigned), "latin1");
}

/**
 * The signature in base64. Ed25519 signs the SHA-256 of the data (RFC 8463 section 3), synchronously: this
 * takes less time than starting a task in the thread pool.
 */
export async function signData({ algorithm, privateKey }: SigningKey, data: Buffer): Promise<string> {
  const signature =
    algorithm === "rsa"
      ? await signAsync("sha256", data, privateKey)
      : sign(null, createHash("sha256").update(data).digest(), privateKey);
  return signature.toString("base64");
}

function listCoveredFields(fields: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const field of fields) {
    const name = getFieldName(field);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const repeat = (name: string, more: number) => Array<string>((counts.get(name) ?? 0) + more).fill(name);
  return [...CLOSED.flatMap((name) => repeat(name, 1)), ...OPEN.flatMap((name) => repeat(name, 0))];
}

type Signed = { names: readonly string[]; bodyHash: string; signedAt: Date };

/** The signature field, up to and including `b=`. */
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

/** Folds `h=`; whitespace is allowed after each colon (RFC 6376 section 3.5). */
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

/** Folds base64 into lines; the first line follows `b=`. */
const fold = (text: string): string => text.replace(/.{72}(?=.)/g, "$&\r\n ");
