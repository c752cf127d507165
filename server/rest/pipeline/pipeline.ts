import { isLockTimeout } from "#db/faults";
import type { Ctx, RestDeps } from "#server/deps";
import { AppError, rejectKey } from "#server/platform/errors";
import type { BodyClaim } from "#server/platform/limits/body-budget";
import type { Verdict } from "#server/platform/limits/limits";
import { IdempotencyKeyBusy } from "#server/services/emails/accept/acceptor";
import { IdempotencyKeyTaken, type Once } from "#server/services/emails/accept/send";
import type { KnownKey } from "#server/services/keys/cache";
import { type BodySize, readJson, streamBody } from "../body/read";
import { findStoredResponse, fingerprintOf, readIdempotencyKey } from "./idempotency";
import { readQuery } from "./query";
import { dropRepeatedId } from "./repeated-id";
import type { Call, HandlerResult, Route } from "./route";
import { validate } from "./validate";

export type Arrival = {
  request: Request;
  url: URL;
  params: Record<string, string>;
  requestId: string;
  verdict: Verdict;
  /** The IP address of the caller; null if unknown. */
  address: string | null;
  /** The owner of the call's share of the memory for large bodies: the team, or the client address without a key. */
  holder: string;
  /** Called with the parsed body before validation. */
  onBody: (json: unknown) => void;
};
export type RouteResult = HandlerResult & { status: number; replayed: boolean };

const noBody = "This operation has no request body. Remove the body.";
const NO_BYTES: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

/** Limit for operations without a body: some clients send an empty object. */
const bodilessMaxBytes = 64 * 1024;

/** Checks the scope, parses, handles idempotency and runs the handler, in that order. `key` is null for routes without one. */
export async function runRoute(
  deps: RestDeps,
  route: Route,
  key: KnownKey | null,
  arrival: Arrival,
): Promise<RouteResult> {
  // Values parsed from a body use memory until the handler finishes.
  const claim = deps.bodies.open(arrival.holder);
  try {
    return await runWithClaim(deps, route, key, arrival, claim);
  } finally {
    claim.release();
  }
}

async function runWithClaim(
  deps: RestDeps,
  route: Route,
  key: KnownKey | null,
  { request, url, params, requestId, verdict, address, onBody }: Arrival,
  claim: BodyClaim,
): Promise<RouteResult> {
  const ctx = key ? contextOf(deps, key, route, { requestId, claim }) : deps;
  const query = route.query ? validate(route.query, readQuery(url), "query") : rejectQuery(url);
  const hasBody = route.body !== undefined || route.accepts !== undefined;
  const size = {
    maxBytes: Math.min(deps.bodyMaxBytes, hasBody ? (route.bodyMaxBytes ?? Infinity) : bodilessMaxBytes),
    advice: hasBody ? (route.ifTooLarge ?? "Send less in one request.") : noBody,
    claim,
    patience: deps.bodies.patience,
  };
  const bytes = route.accepts
    ? streamBody(request, size, [route.accepts, ...(route.acceptsToo ?? [])])
    : NO_BYTES;
  const json = route.accepts || route.ignoresBody ? undefined : await readBody(request, size, route, onBody);
  const given = route.repeatsId ? dropRepeatedId(json, route.repeatsId, params.id) : json;
  const body = route.body ? validate(route.body, given, "body") : undefined;
  const once = route.idempotent ? readIdempotency(request, route, json) : undefined;
  const run = async (): Promise<RouteResult> => {
    const header = (name: string) => request.headers.get(name);
    const isHead = request.method === "HEAD";
    const call = { ctx, body, query, params, once, header, isHead, address, verdict, bytes };
    const result = await route.handle(call as unknown as Call<never, never, never>);
    const status = ("status" in result ? result.status : undefined) ?? route.status;
    return { ...result, status, replayed: false };
  };
  const isDryRun = route.isDryRun?.(query) ?? false;
  return once && !isDryRun && "teamId" in ctx ? runOnce(ctx, once, run) : run();
}

/** Returns the stored response of this key; otherwise runs the handler, which commits its response with its changes. */
async function runOnce(ctx: Ctx, once: Once, run: () => Promise<RouteResult>): Promise<RouteResult> {
  const replay = async (): Promise<RouteResult | null> => {
    const response = await findStoredResponse(ctx, once);
    return response && { ...response, replayed: true };
  };
  const earlier = await replay();
  if (earlier) return earlier;
  try {
    return await run();
  } catch (thrown) {
    // A concurrent duplicate was first. The insert waited for its commit, so its response is stored, unless the wait timed
    // out.
    if (thrown instanceof IdempotencyKeyTaken) {
      const duplicate = await replay();
      if (duplicate) return duplicate;
    } else if (!(thrown instanceof IdempotencyKeyBusy) && !isLockTimeout(thrown)) throw thrown;
    throw new AppError(
      "idempotency_running",
      "A request with this `Idempotency-Key` is still in progress. Repeat yours in a moment to get its response.",
      { cause: thrown },
    );
  }
}

function contextOf(
  deps: RestDeps,
  key: KnownKey,
  route: Route,
  ofRequest: Pick<Ctx, "requestId" | "claim">,
): Ctx {
  const { id: keyId, teamId, scopes, domains, allDomains } = key;
  if (typeof route.access === "object" && !scopes.includes(route.access.scope))
    throw rejectKey("missing_scope", `This key lacks the scope ${route.access.scope}.`);
  return { ...deps, teamId, actor: { kind: "key", keyId, scopes, domains, allDomains }, ...ofRequest };
}

async function readBody(
  request: Request,
  size: BodySize,
  route: Route,
  onBody: Arrival["onBody"],
): Promise<unknown> {
  const json = await readJson(request, size);
  onBody(json);
  if (!route.body) {
    // Some clients send `{}` with every request, including those without a body.
    const isEmpty =
      json === undefined || (typeof json === "object" && json !== null && Object.keys(json).length === 0);
    if (!isEmpty) throw new AppError("invalid", noBody);
    return undefined;
  }
  if (json === undefined && route.bodyForm === "optional") return {};
  if (json === undefined)
    throw new AppError(
      "bad_json",
      "The body is missing. Send a JSON object with the header `Content-Type: application/json`.",
    );
  const form = Array.isArray(json) ? "array" : json === null ? "null" : typeof json;
  const wanted = route.bodyForm === "array" ? "array" : "object";
  if (form !== wanted) throw new AppError("bad_json", `The body must be a JSON ${wanted}.`);
  return json;
}

function rejectQuery(url: URL): undefined {
  const [name] = url.searchParams.keys();
  if (name !== undefined)
    throw new AppError(
      "invalid",
      `Unknown query parameter \`${name.slice(0, 60)}\`. This operation has no query parameters.`,
    );
}

function readIdempotency(request: Request, route: Route, json: unknown): Once | undefined {
  const key = readIdempotencyKey(request);
  if (key === null) return undefined;
  const { method, path, status } = route;
  return { route: `${method} ${path}`, key, fingerprint: fingerprintOf(json), status };
}
