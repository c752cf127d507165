import { timingSafeEqual } from "node:crypto";
import type { Ctx, RestDeps } from "#server/deps";
import { AppError } from "#server/errors";
import { addressBucket } from "#server/limits/address-bucket";
import { LIMIT_PER_MINUTE, type Tier, type Verdict } from "#server/limits/limits";
import type { Scope } from "#server/scopes";
import { IdempotencyKeyTaken, type Once } from "#server/services/emails/send";
import type { KnownKey } from "#server/services/keys/authenticate";
import { readJson } from "./body";
import type { Peer } from "./dispatch";
import { toAppError } from "./faults";
import { findAnswer, fingerprintOf, readIdempotencyKey } from "./idempotency";
import type { Answer, Call, Route } from "./route";
import { validate } from "./validate";

export type Caller = { kind: "key"; key: KnownKey } | { kind: "anybody" };
export type Identified = { caller: Caller; verdict: Verdict; fault: AppError | null };

/**
 * Finds out who calls and counts the call. Without a valid key it is 401, always: the bucket of the client's address shows
 * in the headers but never turns that into a 429. Public routes and probes are shown that bucket and consume nothing.
 */
export async function identify(
  deps: RestDeps,
  request: Request,
  peer: Peer,
  route: Route | null,
): Promise<Identified> {
  const byAddress = async (count: boolean) => {
    const bucket = addressBucket(request.headers, peer.address ?? undefined, deps.trustedHops);
    return deps.limits[count ? "take" : "peek"](bucket, "other", LIMIT_PER_MINUTE.other);
  };
  if (route?.access === "public")
    return { caller: { kind: "anybody" }, verdict: await byAddress(false), fault: null };
  if (route?.access === "operator-token" && deps.cronSecret !== null) {
    const known = isSame(bearerOf(request), deps.cronSecret);
    return {
      caller: { kind: "anybody" },
      verdict: await byAddress(!known),
      fault: known ? null : unauthorized(),
    };
  }
  let key: KnownKey | null;
  try {
    key = await findCaller(deps, request);
  } catch (thrown) {
    return {
      caller: { kind: "anybody" },
      verdict: await byAddress(false),
      fault: toAppError(thrown, deps.log, ""),
    };
  }
  if (!key) return { caller: { kind: "anybody" }, verdict: await byAddress(true), fault: unauthorized() };
  const tier: Tier = route && route.tier !== "none" ? route.tier : "other";
  const verdict = await deps.limits.take(key.id, tier, key.limits[tier] ?? LIMIT_PER_MINUTE[tier]);
  const fault = verdict.allowed
    ? null
    : new AppError("rate_limited", "Rate limit exceeded", {
        details: { retryAfter: verdict.retryAfterSeconds },
      });
  return { caller: { kind: "key", key }, verdict, fault };
}

const unauthorized = () => new AppError("unauthorized", "Unauthorized");

const bearerOf = (request: Request) =>
  /^Bearer ([^\s]{1,512})$/i.exec(request.headers.get("authorization") ?? "")?.[1];

async function findCaller(deps: RestDeps, request: Request): Promise<KnownKey | null> {
  const token = bearerOf(request);
  return token ? deps.authenticate(token) : null;
}

function isSame(given: string | undefined, expected: string): boolean {
  const a = Buffer.from(given ?? "");
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Scope, parsing, idempotency and the handler, in that order. */
export async function answerCall(
  deps: RestDeps,
  request: Request,
  url: URL,
  route: Route,
  params: Record<string, string>,
  caller: Caller,
  requestId: string,
): Promise<Answer & { status: number; replayed: boolean }> {
  const ctx = caller.kind === "key" ? contextOf(deps, caller.key, route, requestId) : deps;
  const query = route.query ? validate(route.query, readQuery(url), "query") : refuseQuery(url);
  const json = route.body || caller.kind === "key" ? await readBody(request, deps, route) : undefined;
  const body = route.body ? validate(route.body, json, "body") : undefined;
  const once = route.idempotent ? readOnce(request, route, json) : undefined;
  const call = { ctx, body, query, params, once } as unknown as Call<never, never, never>;
  const answered = (answer: Answer, replayed: boolean) => ({
    ...answer,
    status: answer.status ?? route.status,
    replayed,
  });
  if (!once || !("teamId" in ctx)) return answered(await route.handle(call), false);

  const earlier = await findAnswer(ctx, once);
  if (earlier) return answered(earlier, true);
  try {
    return answered(await route.handle(call), false);
  } catch (thrown) {
    if (!(thrown instanceof IdempotencyKeyTaken)) throw thrown;
    const twin = await findAnswer(ctx, once);
    if (twin) return answered(twin, true);
    throw new AppError(
      "idempotency_running",
      "A request with this `Idempotency-Key` is still running. Repeat it in a moment to get its answer.",
    );
  }
}

function contextOf(deps: RestDeps, key: KnownKey, route: Route, requestId: string): Ctx {
  const scope: Scope | null = typeof route.access === "object" ? route.access.scope : null;
  if (scope && !key.scopes.includes(scope))
    throw new AppError("forbidden", "Insufficient API key permissions");
  const { id: keyId, scopes, domains, allDomains } = key;
  return {
    ...deps,
    teamId: key.teamId,
    actor: { kind: "key", keyId, scopes, domains, allDomains },
    requestId,
  };
}

async function readBody(request: Request, deps: RestDeps, route: Route): Promise<unknown> {
  const json = await readJson(request, deps.bodyMaxBytes);
  if (!route.body) {
    // Some clients send `{}` with every call, also where nothing is expected.
    const isEmpty =
      json === undefined || (typeof json === "object" && json !== null && Object.keys(json).length === 0);
    if (!isEmpty) throw new AppError("invalid", "This call takes no body.");
    return undefined;
  }
  if (json === undefined || typeof json !== "object" || json === null || Array.isArray(json))
    throw new AppError("bad_json", "The body must be a JSON object.");
  return json;
}

/** Query parameters by name; one that stands twice keeps its last value. */
const readQuery = (url: URL): Record<string, string> => Object.fromEntries(url.searchParams);

function refuseQuery(url: URL): undefined {
  const [name] = url.searchParams.keys();
  if (name !== undefined) throw new AppError("invalid", `Unknown query parameter \`${name.slice(0, 60)}\`.`);
}

function readOnce(request: Request, route: Route, json: unknown): Once | undefined {
  const key = readIdempotencyKey(request);
  if (key === null) return undefined;
  return {
    route: `${route.method} ${route.path}`,
    key,
    fingerprint: fingerprintOf(json),
    status: route.status,
  };
}
