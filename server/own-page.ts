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

/** Whether a request says how long its body is, and that it is no longer than that. HTTP then cuts off what exceeds it. */
export function isBodyWithin(maxBytes: number, headers: Headers): boolean {
  const length = headers.get("content-length") ?? "";
  return /^\d{1,9}$/.test(length) && Number(length) <= maxBytes;
}
