import type { RestDeps } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { LIMIT_PER_MINUTE, type Verdict } from "#server/limits/limits";
import { toAppError } from "./faults";
import { identify, type Peer } from "./identify";
import { compileRoutes, type Match } from "./match";
import { runRoute } from "./pipeline";
import { errorBody, errorHeaders, jsonResponse, limitHeaders } from "./respond";
import type { Route } from "./route";
import { routes } from "./routes";

export type Dispatch = (deps: RestDeps, request: Request, peer: Peer) => Promise<Response>;

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;
const NOWHERE: Match = { route: null, params: {}, allowed: [] };

/**
 * Answers any request below `/api`, unknown paths and methods included: always JSON, always with a request id and the
 * three limit headers, whatever goes wrong. Never throws.
 */
export const dispatch: Dispatch = createDispatch(routes);

/** The same over another list of routes. */
export function createDispatch(list: readonly Route[]): Dispatch {
  const find = compileRoutes(list);
  const paths = [...new Set(list.filter(({ access }) => typeof access === "object").map(({ path }) => path))];

  return async (deps, request, peer) => {
    const given = request.headers.get("x-request-id");
    const requestId = given !== null && REQUEST_ID.test(given) ? given : newId();
    let verdict: Verdict | undefined;
    let match = NOWHERE;
    let status: number;
    let body: Record<string, unknown>;
    let headers: Record<string, string> = {};
    try {
      const url = new URL(request.url);
      match = find(request.method, url.pathname);
      // Without a secret the operator's routes do not exist.
      if (match.route?.access === "operator-token" && !deps.cronSecret) match = NOWHERE;
      const known = await identify(deps, request, peer, match.route);
      verdict = known.verdict;
      if (known.fault) throw known.fault;
      if (!match.route) throw explainNowhere(request.method, url.pathname);
      const answered = await runRoute(deps, match.route, known.key, {
        request,
        url,
        params: match.params,
        requestId,
      });
      ({ status, body } = answered);
      if (answered.replayed) headers = { "idempotent-replayed": "true" };
    } catch (thrown) {
      const error = toAppError(thrown, deps.log, requestId);
      status = error.status;
      body = errorBody(error, requestId);
      headers = errorHeaders(error, match.allowed);
    }
    const nowMs = deps.clock().getTime();
    return jsonResponse(status, request.method === "HEAD" ? null : body, {
      "x-request-id": requestId,
      ...limitHeaders(verdict ?? uncounted(nowMs), nowMs),
      ...headers,
    });
  };

  function explainNowhere(method: string, pathname: string): AppError {
    const { allowed } = find(method, pathname);
    if (allowed.length > 0)
      return new AppError(
        "method_not_allowed",
        `${method.slice(0, 20)} is not possible here. Use ${allowed.join(" or ")}.`,
      );
    const here = pathname.slice(0, 200);
    const plain = `/${pathname.split("/").filter(Boolean).join("/")}`;
    const isNear = plain !== pathname && find(method, plain).allowed.length > 0;
    return new AppError(
      "not_found",
      isNear
        ? `There is no ${here}. Write ${plain}.`
        : `There is no ${here}. There are: ${paths.join(", ")}.`,
    );
  }
}

/** For a call that failed before it could be counted. */
const uncounted = (nowMs: number): Verdict => ({
  allowed: true,
  limit: LIMIT_PER_MINUTE.other,
  remaining: LIMIT_PER_MINUTE.other,
  resetAtMs: nowMs + 60_000,
  retryAfterSeconds: 0,
});
