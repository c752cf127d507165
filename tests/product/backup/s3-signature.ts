import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

export type S3Credentials = { keyId: string; secret: string; region: string };

const FIELDS =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const skewMsMax = 15 * 60_000;

/**
 * The error code of S3 for a request that is not signed with AWS Signature Version 4 by these credentials, or
 * null: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function faultOfSignature(
  { method = "", url = "/", headers }: Pick<IncomingMessage, "method" | "url" | "headers">,
  body: Buffer,
  { keyId, secret, region }: S3Credentials,
): string | null {
  const fields = FIELDS.exec(headers.authorization ?? "");
  if (!fields) return "AccessDenied";
  const [, id, day = "", of, names = "", signature] = fields;
  if (id !== keyId) return "InvalidAccessKeyId";
  const at = headerOf(headers, "x-amz-date");
  const time = Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (of !== region || !at.startsWith(day)) return "AuthorizationHeaderMalformed";
  if (!(Math.abs(Date.now() - time) < skewMsMax)) return "RequestTimeTooSkewed";
  const signed = names.split(";");
  const required = Object.keys(headers).filter((name) => name === "host" || name.startsWith("x-amz-"));
  if (!required.every((name) => signed.includes(name))) return "AccessDenied";
  const payload = headerOf(headers, "x-amz-content-sha256");
  if (payload !== "UNSIGNED-PAYLOAD" && payload !== sha256(body)) return "XAmzContentSHA256Mismatch";

  const { pathname, searchParams } = new URL(url, "http://store");
  const query = [...searchParams].map((pair) => pair.map(encode).join("=")).sort();
  const canonical = [
    method,
    pathname.split("/").map(decodeURIComponent).map(encode).join("/"),
    query.join("&"),
    ...signed.map((name) => `${name}:${headerOf(headers, name)}`),
    "",
    names,
    payload,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", at, scope, sha256(canonical)].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString("hex") === signature ? null : "SignatureDoesNotMatch";
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string): Buffer => createHmac("sha256", key).update(data).digest();

const headerOf = (headers: IncomingMessage["headers"], name: string): string =>
  String(headers[name] ?? "")
    .trim()
    .replace(/ +/g, " ");

/** RFC 3986: all but letters, digits, `-`, `.`, `_` and `~`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
