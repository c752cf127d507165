import { isLockTimeout } from "#db/faults";
import type { Ctx, RestDeps } from "#server/deps";
import { AppError, rejectScope } from "#server/platform/errors";
import type { Verdict } from "#server/platform/limits/limits";
import type { TrackingHost } from "#server/services/domains/served-hosts";
import { IdempotencyKeyBusy } from "#server/services/emails/accept/acceptor";
import { findStoredResponse } from "#server/services/emails/accept/idempotency";
import { IdempotencyKeyTaken, type Once } from "#server/services/emails/accept/send";
import type { KnownKey } from "#server/services/keys/cache";
import type { JsonBody } from "../body/json";
import { type BodySize, readJson, skipBody, streamBody } from "../body/read";
import { parseIdempotencyKey } from "./idempotency";
import { parseQuery } from "./query";
import type { Call, HandlerResult, NonJsonResult, Route } from "./route";
import { requireId, validate } from "./validate";

export type Arrival = {
  request: Request;
  url: URL;
  params: Record<string, string>;
  requestId: string;
  /** The `traceparent` of the request's span; absent while traces are off. */
  traceparent?: string;
  verdict: Verdict;
  /** The IP address of the caller; null if unknown. */
  address: string | null;
  /** The tracking host that the call was sent to; null for any other host. */
  trackingHost: TrackingHost | null;
  /**
   * The owner of the call's share of the memory for large bodies: the team, or the client address without a
   * key.
   */
  holder: string;
  /** Called with the parsed body before validation. */
  onBody: (json: unknown) => void;
};
export type RouteResult = HandlerResult & { status: number; replayed: boolean };

const noBody = "This operation has no request body. Remove the body.";
const NO_JSON: JsonBody = { json: undefined, fingerprint: null };
const NO_BYTES: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

/** Limit for operations without a body: some clients send an empty object. */
const bodilessMaxBytes = 64 * 1024;

/**
 * Checks the scope, parses, handles idempotency and runs the handler, in that order. `key` is null for routes
 * without one.
 */
export async function runRoute(
  deps: RestDeps,
  route: Route,
  key: KnownKey | null,
  { request, url, params, requestId, traceparent, verdict, address, trackingHost, holder, onBody }: Arrival,
): Promise<RouteResult> {
  const { access } = route;
  if (key && typeof access === "object" && !key.scopes.includes(access.scope))
    throw rejectScope(access.scope);
  const claim = deps.bodies.open(holder);
  try {
    const ctx = key
      ? {
          teamId: key.teamId,
          actor: {
            kind: "key" as const,
            keyId: key.id,
            scopes: key.scopes,
            domains: key.domains,
            allDomains: key.allDomains,
          },
          requestId,
          traceparent,
          claim,
          // Last, because adding properties to a copy of so many takes ten times as long.
          ...deps,
        }
      : deps;
    const query = route.query
      ? validate(route.query, parseQuery(url, route.lists), "query")
      : rejectQuery(url, route);
    const hasBody = route.body !== undefined || route.accepts !== undefined;
    const size = {
      maxBytes: Math.min(deps.bodyMaxBytes, hasBody ? (route.bodyMaxBytes ?? Infinity) : bodilessMaxBytes),
      advice: hasBody ? (route.ifTooLarge ?? "Send less in one request.") : noBody,
      claim,
    };
    const bytes = route.accepts
      ? streamBody(request, size, [route.accepts, ...(route.acceptsToo ?? [])])
      : NO_BYTES;
    const { json, fingerprint } = route.accepts
      ? NO_JSON
      : await readBody(deps, { request, holder, onBody }, size, route);
    const given = route.repeatsId ? dropRepeatedId(json, route.repeatsId, params.id) : json;
    const body = route.body ? validate(route.body, given, "body") : undefined;
    const once = fingerprint ? parseIdempotencyKey(request, route, fingerprint) : undefined;
    const isReplayable = once !== undefined && "teamId" in ctx && !route.isDryRun?.(query);
    const earlier = isReplayable && (await findStoredResponse(ctx, once));
    if (earlier) return { ...earlier, replayed: true };
    const header = request.headers.get.bind(request.headers);
    const isHead = request.method === "HEAD";
    for (const name of Object.keys(params)) if (!route.params?.[name]) requireId(params, name);
    const call = { ctx, body, query, params, once, header, isHead, address, trackingHost, verdict, bytes };
    try {
      const made = await route.handle(call as unknown as Call<never, never, never, never>);
      const result = route.response ? { body: made } : (made as NonJsonResult);
      return { status: route.status, ...result, replayed: false };
    } catch (thrown) {
      if (!isReplayable) throw thrown;
      return await replayDuplicate(ctx, once, thrown);
    }
  } finally {
    // Values parsed from a body use memory until the handler finishes.
    claim.release();
  }
}

/**
 * The stored response if a concurrent request with the same key was first. Otherwise throws the error for the
 * caller.
 */
async function replayDuplicate(ctx: Ctx, once: Once, thrown: unknown): Promise<RouteResult> {
  // The insert waited for the commit of the duplicate, so its response is stored, unless the wait timed out.
  if (thrown instanceof IdempotencyKeyTaken) {
    const duplicate = await findStoredResponse(ctx, once);
    if (duplicate) return { ...duplicate, replayed: true };
  } else if (!(thrown instanceof IdempotencyKeyBusy) && !isLockTimeout(thrown)) throw thrown;
  throw new AppError(
    "idempotency_running",
    "A request with this `Idempotency-Key` is still in progress. Repeat yours in a moment to get its response.",
    { cause: thrown },
  );
}

async function readBody(
  { threads }: RestDeps,
  { request, holder, onBody }: Pick<Arrival, "request" | "holder" | "onBody">,
  size: BodySize,
  route: Route,
): Promise<JsonBody> {
  if (route.ignoresBody) {
    await skipBody(request, size);
    return NO_JSON;
  }
  const isFingerprinted = route.idempotent === true && request.headers.has("idempotency-key");
  const read = await readJson(request, size, { threads, holder, isFingerprinted });
  const { json } = read;
  onBody(json);
  if (!route.body) {
    // Some clients send `{}` with every request, including those without a body.
    const isEmpty =
      json === undefined || (typeof json === "object" && json !== null && Object.keys(json).length === 0);
    if (!isEmpty) throw new AppError("invalid", noBody);
    return NO_JSON;
  }
  if (json === undefined && route.bodyForm === "optional") return { ...read, json: {} };
  if (json === undefined)
    throw new AppError(
      "bad_json",
      "The body is missing. Send a JSON object with the header `Content-Type: application/json`.",
    );
  const form = Array.isArray(json) ? "array" : json === null ? "null" : typeof json;
  const wanted = route.bodyForm === "array" ? "array" : "object";
  if (form !== wanted) throw new AppError("bad_json", `The body must be a JSON ${wanted}.`);
  return read;
}

function rejectQuery(url: URL, { isLink }: Route): undefined {
  const [name] = url.searchParams.keys();
  if (name !== undefined && !isLink)
    throw new AppError(
      "invalid",
      `Unknown query parameter \`${name.slice(0, 60)}\`. This operation has no query parameters.`,
    );
}

/**
 * Removes the body fields in `names` that repeat the id of the path: clients in several languages send them.
 * A field with a different id is rejected, because the intended id is ambiguous.
 */
export function dropRepeatedId(json: unknown, names: readonly string[], id: string | undefined): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const rest: Record<string, unknown> = { ...json };
  for (const name of names) {
    const value = rest[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || value.toLowerCase() !== id?.toLowerCase())
      throw new AppError("invalid", `Invalid \`${name}\`: it differs from the id in the path. Remove it.`);
    delete rest[name];
  }
  return rest;
}
