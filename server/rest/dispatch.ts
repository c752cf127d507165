import type { RestDeps } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { toAppError } from "./faults";
import { answerCall, type Caller, identify } from "./pipeline";
import { errorBody, jsonResponse, limitHeaders } from "./respond";
import type { Route } from "./route";
import { routes } from "./routes";

/** Who is at the other end of the connection; null where the platform does not tell. */
export type Peer = { address: string | null };

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;

/**
 * Answers any request below `/api`, unknown paths and methods included: always JSON, always with a request id and the
 * three limit headers, whatever goes wrong. Never throws.
 */
export async function dispatch(deps: RestDeps, request: Request, peer: Peer): Promise<Response> {
  const given = request.headers.get("x-request-id");
  const requestId = given !== null && REQUEST_ID.test(given) ? given : newId();
  const url = new URL(request.url);
  const method = request.method === "HEAD" ? "GET" : request.method;
  const match = matchRoute(method, url.pathname);
  const { caller, verdict, fault } = await identify(deps, request, peer, match.route ?? null);
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    ...limitHeaders(verdict, deps.clock().getTime()),
  };
  let response: Response;
  try {
    if (fault) throw fault;
    response = await answer(deps, request, url, match, caller, requestId, headers);
  } catch (thrown) {
    const error = toAppError(thrown, deps.log, requestId);
    response = jsonResponse(error.status, errorBody(error, requestId), {
      ...headers,
      ...errorHeaders(error, match.allowed),
    });
  }
  return request.method === "HEAD" ? new Response(null, response) : response;
}

async function answer(
  deps: RestDeps,
  request: Request,
  url: URL,
  match: Match,
  caller: Caller,
  requestId: string,
  headers: Record<string, string>,
): Promise<Response> {
  if (!match.route) {
    if (match.allowed.length === 0)
      throw new AppError(
        "not_found",
        `There is no ${url.pathname.slice(0, 200)}. GET /api/openapi.json lists what there is.`,
      );
    throw new AppError(
      "method_not_allowed",
      `${request.method.slice(0, 20)} is not possible here. Use ${match.allowed.join(" or ")}.`,
    );
  }
  const { status, body, replayed } = await answerCall(
    deps,
    request,
    url,
    match.route,
    match.params,
    caller,
    requestId,
  );
  return jsonResponse(status, body, replayed ? { ...headers, "idempotent-replayed": "true" } : headers);
}

function errorHeaders(error: AppError, allowed: string[]): Record<string, string> {
  switch (error.code) {
    case "unauthorized":
      return { "www-authenticate": "Bearer" };
    case "method_not_allowed":
      return { allow: allowed.join(", ") };
    case "rate_limited":
      return { "retry-after": String(error.details.retryAfter) };
    case "unavailable":
      return { "retry-after": "2" };
    default:
      return {};
  }
}

type Match = { route: Route | undefined; params: Record<string, string>; allowed: string[] };

/** The declared route of a path and method; without one, the methods that the path does have. */
function matchRoute(method: string, pathname: string): Match {
  const segments = pathname.split("/");
  const candidates = routes
    .map((route) => ({ route, params: matchPath(route.path.split("/"), segments) }))
    .filter(
      (candidate): candidate is { route: Route; params: Record<string, string> } => candidate.params !== null,
    )
    // A literal segment wins over a variable one.
    .sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length);
  const best = candidates.filter(
    ({ params }) => Object.keys(params).length === Object.keys(candidates[0]?.params ?? {}).length,
  );
  const found = best.find(({ route }) => route.method === method);
  const allowed = best.flatMap(({ route }) => (route.method === "GET" ? ["GET", "HEAD"] : [route.method]));
  return { route: found?.route, params: found?.params ?? {}, allowed };
}

function matchPath(pattern: string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? "";
    if (!part.startsWith("{")) {
      if (part !== segment) return null;
      continue;
    }
    const value = decodeSegment(segment);
    if (!value) return null;
    params[part.slice(1, -1)] = value;
  }
  return params;
}

function decodeSegment(segment: string): string | null {
  try {
    const value = decodeURIComponent(segment);
    return value.includes("\0") ? null : value;
  } catch {
    return null;
  }
}
