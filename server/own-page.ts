/**
 * Whether a request names a page of ours as the one that made it: of the public address, or of the host that the browser
 * asked, which no script of another site can choose. One without an origin does not.
 */
export function isFromOwnPage(publicUrl: string, headers: Headers): boolean {
  const origin = headers.get("origin");
  if (origin === null || !URL.canParse(origin)) return false;
  if (origin === publicUrl) return true;
  const { protocol, host } = new URL(origin);
  return protocol === new URL(publicUrl).protocol && host === headers.get("host");
}

const originCharsMax = 200;

/** Why a call that is not from a page of ours is refused, for the person who made it: most often Posthorn's address is set wrong. */
export function sayForeign(publicUrl: string, headers: Headers): string {
  const origin = headers.get("origin") ?? "";
  const from = origin.length <= originCharsMax && URL.canParse(origin) ? new URL(origin).origin : "null";
  return /^https?:/.test(from)
    ? `This page was opened at ${from}; Posthorn's address is ${publicUrl}. Open it there, or set POSTHORN_URL.`
    : `This call must come from a page of Posthorn, at ${publicUrl}.`;
}

/** Whether a request says how long its body is, and that it is no longer than that. HTTP then cuts off what exceeds it. */
export function isBodyWithin(maxBytes: number, headers: Headers): boolean {
  const length = headers.get("content-length") ?? "";
  return /^\d{1,9}$/.test(length) && Number(length) <= maxBytes;
}
