import { KeyHeld } from "#db/acceptor";
import { isLockTimeout } from "#db/faults";
import type { Ctx, RestDeps } from "#server/deps";
import { AppError } from "#server/errors";
import type { Verdict } from "#server/limits/limits";
import { IdempotencyKeyTaken, type Once } from "#server/services/emails/send";
import type { KnownKey } from "#server/services/keys/authenticate";
import { type BodySize, readJson, streamBody } from "./body";
import { findAnswer, fingerprintOf, readIdempotencyKey } from "./idempotency";
import { readQuery } from "./query";
import { dropRepeatedId } from "./repeated-id";
import type { AnyAnswer, Call, Route } from "./route";
import { validate } from "./validate";

export type Arrival = {
  request: Request;
  url: URL;
  params: Record<string, string>;
  requestId: string;
  verdict: Verdict;
  /** The IP address of the caller, as far as it is known. */
  address: string | null;
  /** Called with the parsed body, before anything is made of it. */
  onBody: (json: unknown) => void;
};
export type Answered = AnyAnswer & { status: number; replayed: boolean };

const NO_BYTES: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

/** Scope, parsing, idempotency and the handler, in that order. `key` is null where the route asks for none. */
export async function runRoute(
  deps: RestDeps,
  route: Route,
  key: KnownKey | null,
  arrival: Arrival,
): Promise<Answered> {
  let leave = () => {};
  const enter = async (bytes: number) => {
    leave = await deps.bodyRoom.enter(bytes);
  };
  try {
    return await runInRoom(deps, route, key, arrival, enter);
  } finally {
    leave();
  }
}

/** The same, with `enter` to be asked before a body is read; what is made of the body needs room until all is done. */
async function runInRoom(
  deps: RestDeps,
  route: Route,
  key: KnownKey | null,
  { request, url, params, requestId, verdict, address, onBody }: Arrival,
  enter: BodySize["enter"],
): Promise<Answered> {
  const ctx = key ? contextOf(deps, key, route, requestId) : deps;
  const query = route.query ? validate(route.query, readQuery(url), "query") : refuseQuery(url);
  const size = {
    maxBytes: deps.bodyMaxBytes,
    advice: route.ifTooLarge ?? "Send less in one request.",
    enter,
  };
  const bytes = route.accepts
    ? streamBody(request, size, [route.accepts, ...(route.acceptsToo ?? [])])
    : NO_BYTES;
  const json = route.accepts || route.ignoresBody ? undefined : await readBody(request, size, route, onBody);
  const given = route.repeatsId ? dropRepeatedId(json, route.repeatsId, params.id) : json;
  const body = route.body ? validate(route.body, given, "body") : undefined;
  const once = route.idempotent ? readOnce(request, route, json) : undefined;
  const run = async (): Promise<Answered> => {
    const header = (name: string) => request.headers.get(name);
    const isHead = request.method === "HEAD";
    const call = { ctx, body, query, params, once, header, isHead, address, verdict, bytes };
    const answer = await route.handle(call as unknown as Call<never, never, never>);
    const status = ("status" in answer ? answer.status : undefined) ?? route.status;
    return { ...answer, status, replayed: false };
  };
  const isDryRun = route.isDryRun?.(query) ?? false;
  return once && !isDryRun && "teamId" in ctx ? runOnce(ctx, once, run) : run();
}

/** The answer given before under this key; else the handler's, which commits it together with what it did. */
async function runOnce(ctx: Ctx, once: Once, run: () => Promise<Answered>): Promise<Answered> {
  const replay = async (): Promise<Answered | null> => {
    const answer = await findAnswer(ctx, once);
    return answer && { ...answer, replayed: true };
  };
  const earlier = await replay();
  if (earlier) return earlier;
  try {
    return await run();
  } catch (thrown) {
    // A twin was first. Its statement was waited for, so its answer is there; or it takes longer than anybody waits.
    if (thrown instanceof IdempotencyKeyTaken) {
      const twin = await replay();
      if (twin) return twin;
    } else if (!(thrown instanceof KeyHeld) && !isLockTimeout(thrown)) throw thrown;
    throw new AppError(
      "idempotency_running",
      "A request with this `Idempotency-Key` is still running. Repeat yours in a moment to get its answer.",
      { cause: thrown },
    );
  }
}

function contextOf(deps: RestDeps, key: KnownKey, route: Route, requestId: string): Ctx {
  const { id: keyId, teamId, scopes, domains, allDomains } = key;
  if (typeof route.access === "object" && !scopes.includes(route.access.scope))
    throw new AppError("forbidden", "Insufficient API key permissions");
  return { ...deps, teamId, actor: { kind: "key", keyId, scopes, domains, allDomains }, requestId };
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
    // Some clients send `{}` with every call, also where nothing is expected.
    const isEmpty =
      json === undefined || (typeof json === "object" && json !== null && Object.keys(json).length === 0);
    if (!isEmpty) throw new AppError("invalid", "This call takes no body. Send none.");
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

function refuseQuery(url: URL): undefined {
  const [name] = url.searchParams.keys();
  if (name !== undefined)
    throw new AppError("invalid", `Unknown query parameter \`${name.slice(0, 60)}\`. This call takes none.`);
}

function readOnce(request: Request, route: Route, json: unknown): Once | undefined {
  const key = readIdempotencyKey(request);
  if (key === null) return undefined;
  const { method, path, status } = route;
  return { route: `${method} ${path}`, key, fingerprint: fingerprintOf(json), status };
}
