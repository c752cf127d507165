import { isDatabaseUnreachable, isLockTimeout, isRetryable, isStatementTimeout } from "#db/faults";
import type { RestDeps } from "#server/deps";
import { AppError, rejectionOf } from "#server/platform/errors";
import { attachmentDisposition } from "#server/platform/http/disposition";
import { streamOf } from "#server/platform/http/stream";
import type { Verdict } from "#server/platform/limits/limits";
import { errorFacts } from "#server/platform/log";
import { explainSchemaFault } from "#server/services/health";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";
import type { HandlerResult } from "./route";

/** Headers of every response: they disable caching and content sniffing. */
const COMMON = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

type ResponseOptions = { declaredType: string; isHead: boolean; onFault: (error: unknown) => void };

/** The headers and the body of a handler's result. */
type Content = { body: string | Uint8Array<ArrayBuffer> | ReadableStream; headers: Record<string, string> };

/** A response before it is written. The body is null for HEAD. */
export type Reply = {
  status: number;
  headers: Record<string, string>;
  body: Content["body"] | null;
};

export const toResponse = ({ status, headers, body }: Reply): Response =>
  new Response(body, { status, headers });

/**
 * The response of a handler's result; only its headers for HEAD. `declaredType` is the content type of a
 * result that is not JSON. A stream is read as fast as the caller reads it; its error closes the connection
 * and goes to `onFault`.
 */
export function respond(
  status: number,
  result: HandlerResult,
  options: ResponseOptions,
  headers: Record<string, string>,
): Reply {
  const { body, headers: own } = contentOf(result, options);
  // Not spread: a literal of several spreads takes several times as long.
  return {
    status,
    headers: Object.assign({}, COMMON, own, headers),
    body: options.isHead ? null : body,
  };
}

function contentOf(result: HandlerResult, { declaredType, isHead, onFault }: ResponseOptions): Content {
  if ("body" in result)
    return {
      body: JSON.stringify(result.body),
      headers: { "content-type": "application/json; charset=utf-8" },
    };
  // A page cannot run scripts, load resources, be framed, or send its URL as referrer.
  if ("page" in result)
    return {
      body: result.page,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy":
          "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        "referrer-policy": "no-referrer",
      },
    };
  // Any site may embed an image.
  if ("image" in result)
    return {
      body: result.image,
      headers: { "content-type": declaredType, "cross-origin-resource-policy": "cross-origin" },
    };
  if ("location" in result)
    return {
      body: `${result.location}\n`,
      headers: {
        location: result.location,
        "content-type": "text/plain; charset=utf-8",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex",
      },
    };
  // Browsers must not render or run a file in our origin.
  return {
    body: isHead ? "" : streamOf(result.stream, onFault),
    headers: {
      "content-type": result.contentType ?? declaredType,
      "content-disposition": attachmentDisposition(result.filename),
      "content-security-policy": "default-src 'none'; sandbox",
    },
  };
}

/**
 * Both sets of rate-limit headers: the specification's reset is a Unix time, Resend's is the number of
 * seconds left.
 */
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

/** The verdict for a call that failed before the limiter could count it. */
export const uncounted = (nowMs: number): Verdict => ({
  allowed: true,
  limit: LIMIT_PER_MINUTE.other,
  remaining: LIMIT_PER_MINUTE.other,
  resetAtMs: nowMs + 60_000,
  retryAfterSeconds: 0,
});

/** The response of an error outside the pipeline of a route. */
export function respondToError(
  request: Request,
  error: AppError,
  requestId: string,
  limits: Record<string, string>,
): Response {
  const options = {
    declaredType: "application/json",
    isHead: request.method === "HEAD",
    onFault: () => {},
  };
  const headers = { "x-request-id": requestId, ...limits, ...errorHeaders(error, []) };
  return toResponse(respond(error.status, { body: errorBody(error, requestId) }, options, headers));
}

/**
 * The body of an error. The specification fixes the bodies of 401, 403 and 429. That of 429 is
 * `{"error":"Rate limit exceeded","retryAfter":SECONDS}`; `pipeline/identify.ts` sets the seconds. All others
 * contain the message as `error` (the specification) and as `message` (Resend's SDKs).
 */
export function errorBody(error: AppError, requestId: string): Record<string, unknown> {
  if (error.code === "unauthorized") return { error: "Unauthorized" };
  if (error.code === "forbidden") return { error: "Insufficient API key permissions" };
  if (error.code === "rate_limited") return { error: "Rate limit exceeded", ...error.details };
  const { status, wireName: name, message, details } = error;
  return formatError({ status, name, message, details }, requestId);
}

/** Every error body but those of 401, 403 and 429. */
export const formatError = (
  { status, name, message, details }: { status: number; name: string; message: string; details?: object },
  requestId: string,
): Record<string, unknown> => ({
  error: message,
  name,
  message,
  statusCode: status,
  ...details,
  request_id: requestId,
});

/**
 * Headers that a status requires (RFC 9110), and the reason of a 403. `allowed` are the methods of the path.
 */
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

/**
 * A string of a structured header field (RFC 9651 section 3.3.3). Characters outside printable ASCII become
 * "?".
 */
const quote = (text: string): string => `"${text.replace(/[^ -~]/g, "?").replace(/["\\]/g, "\\$&")}"`;

const UNAVAILABLE =
  "The database is busy or unavailable. Try again in a moment, with the same `Idempotency-Key` if you sent one.";
const SLOW = "The request took too long. Request less data, or try again in a moment.";

/**
 * Converts any thrown value to the error that the caller receives. An unavailable database is 503: the last
 * statement may or may not have been committed, and a repeat with the same `Idempotency-Key` is safe.
 * Unexpected errors are logged in full; the caller receives only the request id.
 */
export async function toAppError(thrown: unknown, deps: RestDeps, requestId: string): Promise<AppError> {
  const { log } = deps;
  if (thrown instanceof AppError) return thrown;
  const isSlow = isStatementTimeout(thrown);
  if (isSlow || isDatabaseUnreachable(thrown) || isRetryable(thrown) || isLockTimeout(thrown)) {
    log.warn(isSlow ? "rest.too_slow" : "rest.database_away", { requestId, ...errorFacts(thrown) });
    return new AppError("unavailable", isSlow ? SLOW : UNAVAILABLE, { cause: thrown });
  }
  const fault = await explainSchemaFault(deps, thrown);
  if (fault) {
    const { reason, message } = fault;
    log.error(`rest.${reason}`, { requestId, ...errorFacts(thrown) });
    return new AppError("unavailable", message, { cause: thrown, details: { reason } });
  }
  log.error("rest.unexpected", { requestId, ...errorFacts(thrown) });
  return new AppError("internal", "Internal server error. Report the request id to the operator.", {
    cause: thrown,
  });
}
