import { type AppError, rejectionOf } from "#server/platform/errors";
import { attachmentDisposition } from "#server/platform/http/disposition";
import type { Verdict } from "#server/platform/limits/limits";

/** A JSON response; `null` sends only the headers, for HEAD. Caching and content-type sniffing are disabled. */
export function jsonResponse(
  status: number,
  body: Record<string, unknown> | null,
  headers: Record<string, string>,
): Response {
  return new Response(body && JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/**
 * A file response, streamed as fast as the caller reads it; headers only for HEAD. An error in the stream closes the
 * connection. The headers prevent browsers from rendering or running the file in our origin.
 */
export function streamResponse(
  status: number,
  { stream, filename, contentType }: { stream: ReadableStream | null; filename: string; contentType: string },
  headers: Record<string, string>,
): Response {
  return new Response(stream, {
    status,
    headers: {
      "content-type": contentType,
      "content-disposition": attachmentDisposition(filename),
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/** An HTML page, or only its headers. It cannot run scripts, load resources, be framed, or send its URL as referrer. */
export function pageResponse(status: number, page: string | null, headers: Record<string, string>): Response {
  return new Response(page, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/** An image, or only its headers. Any site may embed it, and email clients may not cache it. */
export function imageResponse(
  status: number,
  image: Uint8Array<ArrayBuffer> | null,
  contentType: string,
  headers: Record<string, string>,
): Response {
  return new Response(image, {
    status,
    headers: {
      "content-type": contentType,
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/** A redirect without a referrer. */
export function redirectResponse(
  status: number,
  location: string,
  isHead: boolean,
  headers: Record<string, string>,
): Response {
  return new Response(isHead ? null : `${location}\n`, {
    status,
    headers: {
      location,
      "content-type": "text/plain; charset=utf-8",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/** Both sets of rate-limit headers: the specification's reset is a Unix time, Resend's is the number of seconds left. */
export function limitHeaders(verdict: Verdict, nowMs: number): Record<string, string> {
  const secondsLeft = Math.max(0, Math.ceil((verdict.resetAtMs - nowMs) / 1000));
  return {
    "x-ratelimit-limit": String(verdict.limit),
    "x-ratelimit-remaining": String(verdict.remaining),
    "x-ratelimit-reset": String(Math.ceil(verdict.resetAtMs / 1000)),
    "ratelimit-limit": String(verdict.limit),
    "ratelimit-remaining": String(verdict.remaining),
    "ratelimit-reset": String(secondsLeft),
    "ratelimit-policy": `${verdict.limit};w=60`,
  };
}

/**
 * The body of an error. 401, 403 and 429 have exactly the bodies of the specification. All others contain the message as
 * `error` (specification) and as `message` (Resend).
 */
export function errorBody(error: AppError, requestId: string): Record<string, unknown> {
  if (error.code === "unauthorized") return { error: "Unauthorized" };
  if (error.code === "forbidden") return { error: "Insufficient API key permissions" };
  if (error.code === "rate_limited") return { error: "Rate limit exceeded", ...error.details };
  return {
    error: error.message,
    name: error.wireName,
    message: error.message,
    statusCode: error.status,
    ...error.details,
    request_id: requestId,
  };
}

/** Headers that a status requires (RFC 9110), and the reason of a 403. `allowed` are the methods of the path. */
export function errorHeaders(error: AppError, allowed: readonly string[]): Record<string, string> {
  switch (error.code) {
    case "unauthorized":
      return { "www-authenticate": "Bearer" };
    case "forbidden": {
      const rejection = rejectionOf(error);
      if (rejection === null) return {};
      return { "x-backstamp-reason": `${rejection.reason};detail=${quote(rejection.detail)}` };
    }
    case "method_not_allowed":
      return { allow: allowed.join(", ") };
    case "rate_limited":
      return { "retry-after": String(error.details.retryAfter) };
    case "too_large":
    case "too_slow":
      // The unread rest of the body must not be parsed as another request or keep this connection open.
      return { connection: "close" };
    case "unavailable":
      return { "retry-after": "2" };
    default:
      return {};
  }
}

/** A string of a structured header field (RFC 9651 section 3.3.3). Characters outside printable ASCII become "?". */
const quote = (text: string): string => `"${text.replace(/[^ -~]/g, "?").replace(/["\\]/g, "\\$&")}"`;
