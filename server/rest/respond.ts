import { attachmentDisposition } from "#server/disposition";
import type { AppError } from "#server/errors";
import type { Verdict } from "#server/limits/limits";

/** An answer in JSON, or for `null` its headers alone, as HEAD wants it. Nothing here is for a cache or a guess at types. */
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
 * An answer that is a file, in pieces as they are taken; without them for HEAD. Where it breaks, the connection does too.
 * Whatever is in it, no browser shows or runs it under our name.
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

/** A page for people, or its headers alone: it runs nothing, loads nothing, stands in no frame, and tells nobody its address. */
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

/** A picture that mail programs load anew each time, from wherever they are; or its headers alone. */
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

/** Leads elsewhere, and tells that place nothing of where the reader comes from. */
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

/** Both families of limit headers: ours tell when the window ends, the dialect's how many seconds are left. */
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
 * The body of an error. 401, 403 and 429 are the interface's, to the letter; every other one repeats its sentence as
 * `error` and `message`, so that readers of either dialect find it.
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

/** Headers that the status itself asks for (RFC 9110). `allowed` are the methods of the path. */
export function errorHeaders(error: AppError, allowed: readonly string[]): Record<string, string> {
  switch (error.code) {
    case "unauthorized":
      return { "www-authenticate": "Bearer" };
    case "method_not_allowed":
      return { allow: allowed.join(", ") };
    case "rate_limited":
      return { "retry-after": String(error.details.retryAfter) };
    case "too_large":
      // What is still on its way must not be taken for another request, or hold this connection.
      return { connection: "close" };
    case "unavailable":
      return { "retry-after": "2" };
    default:
      return {};
  }
}
