import { createPublicKey, hash, verify } from "node:crypto";
import type { DkimAlgorithm } from "./key";
import { readDkimTags } from "./key";
import { canonicalizeField } from "./relaxed";
import { canonicalizeFields, groupByName } from "./sign";

/** A signature of a header that covers its Message-ID. Nothing of it is verified. */
export type HeaderSignature = {
  algorithm: DkimAlgorithm;
  selector: string;
  /** What was signed: the canonical header. */
  signed: string;
  /** Base64. */
  signature: string;
};

const signaturesMax = 4;

/**
 * The DKIM signatures in the header of a returned email, in the form in which we sign. The body is not read,
 * because reports shorten or omit it: a valid signature of the header proves that we sent an email with this
 * header. Takes linear time.
 */
export function listHeaderSignatures(fields: readonly { name: string; value: string }[]): HeaderSignature[] {
  const byName = groupByName(fields.map(({ name, value }) => `${name}:${value}`));
  const messageIds = byName.get("message-id")?.length ?? 0;
  return (byName.get("dkim-signature") ?? []).slice(0, signaturesMax).flatMap((field) => {
    const tags = readDkimTags(field.slice(field.indexOf(":") + 1));
    const [, algorithm] = /^(rsa|ed25519)-sha256$/.exec(tags.get("a") ?? "") ?? [];
    const names = (tags.get("h") ?? "").split(":").map((name) => name.trim().toLowerCase());
    // Covered once more than it occurs, so none was added (RFC 6376 section 8.15).
    const isCovered = messageIds === 1 && names.filter((name) => name === "message-id").length === 2;
    if ((algorithm !== "rsa" && algorithm !== "ed25519") || !isCovered) return [];
    const own = canonicalizeField(field.replace(/([;\s]b=)[^;]*/, "$1"));
    const signed = canonicalizeFields(byName, names) + own;
    return [{ algorithm, selector: tags.get("s") ?? "", signed, signature: tags.get("b") ?? "" }];
  });
}

/** Whether the holder of this key, as published in `p=`, made the signature. */
export function isSignedBy({ algorithm, signed, signature }: HeaderSignature, publicKey: string): boolean {
  const data = Buffer.from(signed, "utf8");
  const key = Buffer.from(publicKey, "base64");
  const bytes = Buffer.from(signature, "base64");
  if (algorithm === "rsa")
    return verify("sha256", data, createPublicKey({ key, format: "der", type: "spki" }), bytes);
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
  return verify(null, hash("sha256", data, "buffer"), createPublicKey({ key: jwk, format: "jwk" }), bytes);
}
