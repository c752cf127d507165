import { parseUrl } from "../egress/parse-url";

/** Loopback host names, as they appear in a URL. A page of another site cannot have them. */
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a request comes from a page at the public URL. The `Host` header is not checked: after DNS
 * rebinding it contains the other site's name, as `Origin` does. If the public URL has a loopback name, as in
 * `dev`, all loopback names with the same scheme and port are equivalent. False for a request without
 * `Origin`.
 */
export function isFromOwnPage(publicUrl: string, headers: Headers): boolean {
  const origin = headers.get("origin");
  const theirs = origin === null ? null : parseUrl(origin);
  if (theirs === null) return false;
  if (origin === publicUrl) return true;
  const ours = new URL(publicUrl);
  return (
    LOOPBACK.has(theirs.hostname) &&
    LOOPBACK.has(ours.hostname) &&
    theirs.protocol === ours.protocol &&
    theirs.port === ours.port
  );
}

const originCharsMax = 200;

/** The error message for a request from another origin. The usual cause is an incorrect BACKSTAMP_URL. */
export function formatForeignOrigin(publicUrl: string, headers: Headers): string {
  const origin = headers.get("origin") ?? "";
  const from = (origin.length <= originCharsMax && parseUrl(origin)?.origin) || "null";
  return /^https?:/.test(from)
    ? `This page was opened at ${from}, but Backstamp's URL is ${publicUrl}. Open that URL, or change BACKSTAMP_URL.`
    : `This request must come from a Backstamp page at ${publicUrl}.`;
}

/**
 * Whether the request has a `Content-Length` of at most `maxBytes`. The HTTP server does not read more than
 * that.
 */
export function isBodyWithin(maxBytes: number, headers: Headers): boolean {
  const length = headers.get("content-length") ?? "";
  return /^\d{1,9}$/.test(length) && Number(length) <= maxBytes;
}
