import type { z } from "zod";
import type { Ctx, RestDeps } from "#server/deps";
import type { ErrorCode } from "#server/platform/errors";
import type { Verdict } from "#server/platform/limits/limits";
import type { TrackingHost } from "#server/services/domains/served-hosts";
import type { Once } from "#server/services/emails/accept/send";
import type { Tier } from "#server/shared/rate-limits";
import type { Scope } from "#server/shared/scopes";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call: the holder of a key with the scope, any caller, the holder of the operator's token, or the
 * holder of the token for inbound messages or for metrics.
 */
export type Access = { scope: Scope } | "public" | "operator-token" | "inbound-token" | "metrics-token";

/**
 * One valid call, which the API reference shows and the tests run. Tests replace path variables with existing
 * ids.
 */
export type Example = {
  /** Sent as JSON, or unchanged if the route accepts another type. */
  body?: unknown;
  query?: Record<string, string>;
  headers?: Record<string, string>;
};

/** Method and path, with `{name}` for a variable segment: `GET /api/emails/{id}`. */
type MethodAndPath = `${Method} /api/${string}`;

/** The variables of a path, by name. */
type ParamsOf<R extends string> = R extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & ParamsOf<Rest>
  : unknown;

/** A route as data. The pipeline, the API reference and the tests of all routes read the same declaration. */
export type Declaration<R extends MethodAndPath, Body, Query, Shape> = {
  route: R;
  access: Access;
  /**
   * The rate-limit bucket that a call consumes; "none" for health probes, which must never be limited.
   * Default: "other".
   */
  tier?: Tier | "none";
  /** The call also consumes a bucket that the calling key shares with its family. */
  createsKey?: true;
  /** What the operation does, in one line. */
  summary: string;
  /** What else a caller must know. */
  description?: string;
  /** Required if the route has a body or a query. */
  example?: Example;
  /** Descriptions of path variables that are not plain ids. The pipeline checks that all others are ids. */
  params?: Record<string, string>;
  /** Headers that the handler reads, by lower-case name. */
  headers?: Record<string, z.ZodType>;
  /** Errors in addition to those that the rest of the declaration implies. */
  errors?: readonly ErrorCode[];
  /** Status of a successful response. Default: 200. */
  status?: 200 | 201 | 302;
  /** Schema of the successful response, if it is JSON. */
  response?: Shape;
  body?: z.ZodType<Body>;
  /** Complete schema of the body for the API reference, if the handler validates a part of `body` itself. */
  bodyShape?: z.ZodType;
  /** JSON type of the body. Default: "object". With "optional", an absent body counts as an empty object. */
  bodyForm?: "object" | "array" | "optional";
  /**
   * Body fields in which clients repeat the `{id}` of the path. They are removed before `body` is validated.
   */
  repeatsId?: readonly string[];
  query?: z.ZodType<Query>;
  /** Query parameters that are lists, separated by commas. If one is repeated, its values are joined. */
  lists?: readonly string[];
  /** Content type of a body that the handler reads as a stream of bytes, up to the maximum size. */
  accepts?: "text/csv" | "message/rfc822" | "application/json";
  /** Further content types that are accepted for the same body. */
  acceptsToo?: readonly string[];
  /**
   * A link in an email. Programs that follow it may add query parameters or a slash, which are ignored.
   */
  isLink?: true;
  /** Served at tracking hosts, where nothing else is. */
  isTracking?: true;
  /** A public call is limited to this many per minute from one address. Default: not limited. */
  perMinute?: number;
  /** The body is ignored, whatever its type: browsers and email clients send forms. */
  ignoresBody?: true;
  /** Maximum body size in bytes, if less than that of the installation. */
  bodyMaxBytes?: number;
  /** How the caller can reduce a body that is too large. Default: "Send less in one request." */
  ifTooLarge?: string;
  /** Content type of a successful response that is not JSON. Errors are JSON on every route. */
  responseType?: string;
  /** Whether the route supports `Idempotency-Key`. Its handler passes `once` to the service that commits. */
  idempotent?: boolean;
  /**
   * Whether a call with this query is a dry run. A dry run neither replays nor stores a response by
   * `Idempotency-Key`.
   */
  isDryRun?(query: Query): boolean;
};

export type Call<C, Params, Body, Query> = {
  ctx: C;
  body: Body;
  query: Query;
  params: Params;
  once: Once | undefined;
  /** A header of the request, or null. */
  header: (name: string) => string | null;
  /** Whether the method is HEAD. Handlers that count visits must not count it. */
  isHead: boolean;
  /** The IP address of the caller; null if unknown. */
  address: string | null;
  /** The tracking host that the call was sent to; null for any other host. */
  trackingHost: TrackingHost | null;
  /** The limiter's verdict for this call. */
  verdict: Verdict;
  /** The bytes of the body if the declaration has `accepts`; otherwise empty. */
  bytes: AsyncIterable<Uint8Array>;
};

/** A JSON result. */
export type JsonResult = { body: Record<string, unknown> };

/** Results that are not JSON. */
export type NonJsonResult =
  /**
   * Read at the speed of the caller, and not at all for HEAD. A browser suggests `filename`. Default of
   * `contentType`: the type in the declaration.
   */
  | { stream: AsyncIterable<string | Uint8Array>; filename: string; contentType?: string }
  /** A complete HTML page, without scripts and external resources. `status`: instead of the declared one. */
  | { page: string; status?: number }
  /** A small image, of the declared type. */
  | { image: Uint8Array<ArrayBuffer> }
  /** A redirect to an absolute ASCII URL. */
  | { location: string };

export type HandlerResult = JsonResult | NonJsonResult;

export type Route = Omit<
  Declaration<MethodAndPath, unknown, unknown, z.ZodType>,
  "route" | "tier" | "status"
> & {
  method: Method;
  path: string;
  tier: Tier | "none";
  status: number;
  /** Returns the JSON body if the route declares `response`; otherwise a result that is not JSON. */
  handle(call: Call<never, never, never, never>): Promise<Record<string, unknown> | NonJsonResult>;
};

type ContextOf<A extends Access> = A extends { scope: Scope } ? Ctx : RestDeps;

/**
 * Declares a REST route; every route uses it. The type requires an access rule. The pipeline in `dispatch`
 * does everything around the handler: authentication, limits, parsing, idempotency, errors and headers.
 */
export function withApi<
  const R extends MethodAndPath,
  A extends Access,
  Body = undefined,
  Query = undefined,
  Shape extends z.ZodType<Record<string, unknown>> = z.ZodType<Record<string, unknown>>,
>({
  route,
  ...declaration
}: Declaration<R, Body, Query, Shape> & { access: A } & ({ response: Shape } | { responseType: string }) & {
    handle: (call: Call<ContextOf<A>, ParamsOf<R>, Body, Query>) => Promise<z.output<Shape> | NonJsonResult>;
  }): Route {
  const [method, path = ""] = route.split(" ");
  return { status: 200, tier: "other", ...declaration, method: method as Method, path };
}
