import { hash, type KeyObject, sign } from "node:crypto";
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
  const byName = groupByName(fields);
  const names = listCoveredNames(byName);
  const header = canonicalizeFields(byName, names);
  const bodyHash = hash("sha256", canonicalizeBody(body), "base64");
  const tags = [...foldNames(names), `bh=${bodyHash};`, "b="].join("\r\n ");
  const signatures = await Promise.all(
    keys.map(async (key) => {
      const unsigned = formatUnsigned(key, signedAt, tags);
      const data = Buffer.from(header + canonicalizeField(unsigned), "latin1");
      return unsigned + fold(await signData(key, data));
    }),
  );
  return Buffer.concat([Buffer.from(signatures.map((field) => `${field}\r\n`).join(""), "latin1"), bytes]);
}

/** Header fields by their name in lower case, top to bottom. */
export function groupByName(fields: readonly string[]): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const name = getFieldName(field);
    const same = byName.get(name);
    if (same) same.push(field);
    else byName.set(name, [field]);
  }
  return byName;
}

/**
 * The header fields to sign (RFC 6376 section 3.7), which the signature field with an empty `b=` follows: the
 * lowest first among fields of one name, absent ones as an empty string.
 */
export function canonicalizeFields(
  byName: ReadonlyMap<string, readonly string[]>,
  names: readonly string[],
): string {
  const used = new Map<string, number>();
  let text = "";
  for (const name of names) {
    const count = (used.get(name) ?? 0) + 1;
    used.set(name, count);
    const field = byName.get(name)?.at(-count);
    if (field !== undefined) text += `${canonicalizeField(field)}\r\n`;
  }
  return text;
}

/**
 * The signature in base64. Ed25519 signs the SHA-256 of the data (RFC 8463 section 3), synchronously: this
 * takes less time than starting a task in the thread pool.
 */
export async function signData({ algorithm, privateKey }: SigningKey, data: Buffer): Promise<string> {
  const signature =
    algorithm === "rsa"
      ? await signAsync("sha256", data, privateKey)
      : sign(null, hash("sha256", data, "buffer"), privateKey);
  return signature.toString("base64");
}

function listCoveredNames(byName: ReadonlyMap<string, readonly string[]>): string[] {
  const names: string[] = [];
  const cover = (name: string, times: number) => {
    for (let n = 0; n < times; n += 1) names.push(name);
  };
  for (const name of CLOSED) cover(name, (byName.get(name)?.length ?? 0) + 1);
  for (const name of OPEN) cover(name, byName.get(name)?.length ?? 0);
  return names;
}

/** The signature field, up to and including `b=`, which ends `tags`. */
function formatUnsigned({ algorithm, domain, selector }: SigningKey, signedAt: Date, tags: string): string {
  const seconds = Math.floor(signedAt.getTime() / 1000);
  const first = `DKIM-Signature: v=1; a=${algorithm}-sha256; c=relaxed/relaxed; t=${seconds};`;
  return `${first}\r\n d=${domain};\r\n s=${selector};\r\n ${tags}`;
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
function fold(text: string): string {
  let lines = text.slice(0, 72);
  for (let at = 72; at < text.length; at += 72) lines += `\r\n ${text.slice(at, at + 72)}`;
  return lines;
}
