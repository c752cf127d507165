import type { RestDeps } from "#server/deps";
import { AppError, type Rejection, rejectionOf } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { addressBucket, clientAddress } from "#server/platform/limits/address-bucket";
import type { Verdict } from "#server/platform/limits/limits";
import { errorFacts } from "#server/platform/log";
import type { Span } from "#server/platform/telemetry/otel";
import { ONLY_LINKS } from "#server/services/domains/served-hosts";
import { type Identified, identify, type Peer } from "./pipeline/identify";
import { compileRoutes, type Find, type Match } from "./pipeline/match";
import { runRoute } from "./pipeline/pipeline";
import {
  errorBody,
  errorHeaders,
  limitHeaders,
  type Reply,
  respond,
  toAppError,
  toResponse,
  uncounted,
} from "./pipeline/respond";
import type { HandlerResult, Route } from "./pipeline/route";
import { routes } from "./routes";

type Answer<Result> = (deps: RestDeps, request: Request, peer: Peer) => Promise<Result>;
export type Dispatch = Answer<Response>;

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;
const NO_MATCH: Match = { route: null, params: {}, allowed: [] };

/**
 * Responds to every request below `/api`, including unknown paths and methods. The response is JSON unless
 * the route declares another type. Every response has a request id and the rate-limit headers, also after an
 * error. Never throws.
 */
export const answerCall: Answer<Reply> = createAnswer(routes);

/** The same with a `Response`, for a platform that writes it. */
export const dispatch: Dispatch = asResponse(answerCall);

/** Creates a dispatcher for the given routes. */
export const createDispatch = (list: readonly Route[]): Dispatch => asResponse(createAnswer(list));

function asResponse(answer: Answer<Reply>): Dispatch {
  return async (...call) => toResponse(await answer(...call));
}

function createAnswer(list: readonly Route[]): Answer<Reply> {
  const findAny = compileRoutes(list);
  // Without CRON_SECRET the operator's routes return 404.
  const findPlain = compileRoutes(list.filter(({ access }) => access !== "operator-token"));
  const keyed = list.filter(({ access }) => typeof access === "object");
  const roots = [...new Set(keyed.map(({ path }) => path.split("/", 3).join("/")))];

  return async (deps, request, peer) => {
    const startedMs = performance.now();
    let requestId = newId();
    let verdict: Verdict | undefined;
    let match = NO_MATCH;
    let identified: Identified | undefined;
    let requestBody: unknown;
    let status: number;
    let result: HandlerResult;
    let headers: Record<string, string> = {};
    let rejection: Rejection | null = null;
    let span: Span | undefined;
    try {
      const requestedId = request.headers.get("x-request-id");
      if (requestedId !== null && REQUEST_ID.test(requestedId)) requestId = requestedId;
      const url = new URL(request.url);
      const find = deps.cronSecret ? findAny : findPlain;
      match = find(request.method, url.pathname);
      const trackingHost = await deps.findServedHost(request.headers.get("host"));
      // A page or the API under a name of a team would help to imitate them.
      if (trackingHost && !match.route?.isTracking) throw new AppError("not_found", ONLY_LINKS);
      identified = await identify(deps, request, peer, match.route);
      verdict = identified.verdict;
      if (identified.fault) throw identified.fault;
      if (!match.route) throw explainNotFound(find, match, request.method, url.pathname);
      // Only callers with a key: others must not be able to write traces.
      if (identified.key)
        span = deps.tracer?.start(`${match.route.method} ${match.route.path}`, {
          kind: "server",
          parent: request.headers.get("traceparent"),
          startMs: deps.clock().getTime() - (performance.now() - startedMs),
          attributes: {
            "http.request.method": match.route.method,
            "http.route": match.route.path,
            "backstamp.request_id": requestId,
          },
        });
      const routeResult = await runRoute(deps, match.route, identified.key, {
        traceparent: span?.traceparent,
        request,
        url,
        params: match.params,
        requestId,
        verdict,
        trackingHost,
        address: clientAddress(request.headers, peer.address ?? undefined, deps.trustedHops) ?? null,
        holder: identified.key
          ? `team:${identified.key.teamId}`
          : addressBucket(request.headers, peer.address ?? undefined, deps.trustedHops),
        onBody: (json) => {
          requestBody = json;
        },
      });
      status = routeResult.status;
      result = routeResult;
      if (routeResult.replayed) headers = { "idempotent-replayed": "true" };
    } catch (thrown) {
      const error = await toAppError(thrown, deps, requestId);
      status = error.status;
      rejection = rejectionOf(error);
      result = { body: errorBody(error, requestId) };
      headers = errorHeaders(error, match.allowed);
    }
    deps.metrics?.recordRequest(status, (performance.now() - startedMs) / 1_000);
    span?.set({ "http.response.status_code": status });
    if (status >= 500) span?.fail(String(status));
    span?.end();
    logCall(deps, request, identified, { status, requestBody, result, rejection });
    const nowMs = deps.clock().getTime();
    const limits = limitHeaders(verdict ?? uncounted(nowMs), nowMs);
    const commonHeaders = Object.assign({ "x-request-id": requestId }, limits, headers);
    const options = {
      declaredType: match.route?.responseType ?? "application/octet-stream",
      isHead: request.method === "HEAD",
      onFault: (error: unknown) => deps.log.error("rest.stream_broken", { requestId, ...errorFacts(error) }),
    };
    return respond(status, result, options, commonHeaders);
  };

  function explainNotFound(find: Find, { allowed }: Match, method: string, pathname: string): AppError {
    if (allowed.length > 0)
      return new AppError(
        "method_not_allowed",
        `${method.slice(0, 20)} is not supported here. Use ${allowed.join(" or ")}.`,
      );
    const here = pathname.slice(0, 200);
    const plain = `/${pathname.split("/").filter(Boolean).join("/")}`;
    const isNear = plain !== pathname && find(method, plain).allowed.length > 0;
    return new AppError(
      "not_found",
      isNear
        ? `${here} does not exist. Use ${plain}.`
        : `${here} does not exist. Paths begin with ${roots.join(", ")}. GET /api/openapi.json describes every operation.`,
    );
  }
}

/** Stored length of the path and of the user agent, in characters. */
const pathCharsMax = 500;
const agentCharsMax = 300;

/**
 * Records a call with a valid key, or with a token that was rejected. The only cost for the caller is
 * shortening the bodies: the record is written later, and a failure of the write does not affect the call.
 */
export function logCall(
  deps: RestDeps,
  request: Request,
  known: Identified | undefined,
  call: { status: number; requestBody: unknown; result: HandlerResult; rejection: Rejection | null },
): void {
  const { status, requestBody, result, rejection } = call;
  const { key, rejectedToken } = known ?? {};
  if (!key && rejectedToken === undefined) return;
  // Without the query, because callers may put secrets in it. The URL was parsed before, so a path exists.
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(request.url)?.[1] ?? "/";
  deps.requestLog.record({
    caller: key ? { teamId: key.teamId, apiKeyId: key.id } : { token: rejectedToken ?? "" },
    method: request.method.slice(0, 20),
    path: path.slice(0, pathCharsMax),
    status,
    userAgent: request.headers.get("user-agent")?.slice(0, agentCharsMax) ?? null,
    requestBody,
    responseBody: "body" in result ? result.body : undefined,
    rejection,
  });
}
