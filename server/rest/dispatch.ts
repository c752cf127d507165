import type { RestDeps } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { clientAddress } from "#server/limits/address-bucket";
import { LIMIT_PER_MINUTE, type Verdict } from "#server/limits/limits";
import { errorFacts } from "#server/log";
import { streamOf } from "#server/stream";
import { toAppError } from "./faults";
import { type Identified, identify, type Peer } from "./identify";
import { logCall } from "./log-call";
import { compileRoutes, type Find, type Match } from "./match";
import { runRoute } from "./pipeline";
import {
  errorBody,
  errorHeaders,
  imageResponse,
  jsonResponse,
  limitHeaders,
  pageResponse,
  redirectResponse,
  streamResponse,
} from "./respond";
import type { AnyAnswer, Route } from "./route";
import { routes } from "./routes";

export type Dispatch = (deps: RestDeps, request: Request, peer: Peer) => Promise<Response>;

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;
const NOWHERE: Match = { route: null, params: {}, allowed: [] };

/**
 * Answers any request below `/api`, unknown paths and methods included: always JSON but where a route declares something
 * else, always with a request id and the three limit headers, whatever goes wrong. Never throws.
 */
export const dispatch: Dispatch = createDispatch(routes);

/** The same over another list of routes. */
export function createDispatch(list: readonly Route[]): Dispatch {
  const findAny = compileRoutes(list);
  // Without a secret the operator's routes do not exist.
  const findPlain = compileRoutes(list.filter(({ access }) => access !== "operator-token"));
  const paths = [...new Set(list.filter(({ access }) => typeof access === "object").map(({ path }) => path))];

  return async (deps, request, peer) => {
    let requestId = newId();
    let verdict: Verdict | undefined;
    let match = NOWHERE;
    let known: Identified | undefined;
    let requestBody: unknown;
    let status: number;
    let answer: AnyAnswer;
    let headers: Record<string, string> = {};
    try {
      const given = request.headers.get("x-request-id");
      if (given !== null && REQUEST_ID.test(given)) requestId = given;
      const url = new URL(request.url);
      const find = deps.cronSecret ? findAny : findPlain;
      match = find(request.method, url.pathname);
      known = await identify(deps, request, peer, match.route);
      verdict = known.verdict;
      if (known.fault) throw known.fault;
      if (!match.route) throw explainNowhere(find, match, request.method, url.pathname);
      const answered = await runRoute(deps, match.route, known.key, {
        request,
        url,
        params: match.params,
        requestId,
        verdict,
        address: clientAddress(request.headers, peer.address ?? undefined, deps.trustedHops) ?? null,
        onBody: (json) => {
          requestBody = json;
        },
      });
      status = answered.status;
      answer = answered;
      if (answered.replayed) headers = { "idempotent-replayed": "true" };
    } catch (thrown) {
      const error = toAppError(thrown, deps.log, requestId);
      status = error.status;
      answer = { body: errorBody(error, requestId) };
      headers = errorHeaders(error, match.allowed);
    }
    logCall(deps, request, known, { status, requestBody, answer });
    const nowMs = deps.clock().getTime();
    const dress = {
      "x-request-id": requestId,
      ...limitHeaders(verdict ?? uncounted(nowMs), nowMs),
      ...headers,
    };
    const isHead = request.method === "HEAD";
    if ("body" in answer) return jsonResponse(status, isHead ? null : answer.body, dress);
    if ("page" in answer) return pageResponse(status, isHead ? null : answer.page, dress);
    const declaredType = match.route?.answers ?? "application/octet-stream";
    if ("location" in answer) return redirectResponse(status, answer.location, isHead, dress);
    if ("image" in answer) return imageResponse(status, isHead ? null : answer.image, declaredType, dress);
    const { stream, filename, contentType = declaredType } = answer;
    const onFault = (error: unknown) =>
      deps.log.error("rest.stream_broken", { requestId, ...errorFacts(error) });
    return streamResponse(
      status,
      { stream: isHead ? null : streamOf(stream, onFault), filename, contentType },
      dress,
    );
  };

  function explainNowhere(find: Find, { allowed }: Match, method: string, pathname: string): AppError {
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
