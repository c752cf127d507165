import type { z } from "zod";
import type { Ctx, RestDeps } from "#server/deps";
import type { ErrorCode } from "#server/errors";
import type { Tier, Verdict } from "#server/limits/limits";
import type { Scope } from "#server/scopes";
import type { Once } from "#server/services/emails/send";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call: holders of a key with that scope, anybody, whoever knows the operator's token, or whoever was given the one
 * for handing in what comes back.
 */
export type Access = { scope: Scope } | "public" | "operator-token" | "inbound-token";

/** One good call, as the reference shows it and its suite really makes it. Variable segments of the path get rows that exist. */
export type Example = {
  /** Sent as JSON; as it is where the route takes another type. */
  body?: unknown;
  query?: Record<string, string>;
  headers?: Record<string, string>;
};

/** A route as data: the pipeline, the reference document and the suite over every route read the same declaration. */
export type Declaration<Body, Query, Shape> = {
  method: Method;
  /** Below the host, with `{name}` for a variable segment: `/api/emails/{id}`. */
  path: `/api/${string}`;
  access: Access;
  /** The bucket that a call consumes; "none" for probes, which must never be refused. */
  tier: Tier | "none";
  /** What it does, in one line. */
  summary: string;
  /** What a caller has to know beyond that. */
  description?: string;
  /** Required where there is a body or a query to show. */
  example?: Example;
  /** What the variable segments of the path are, where they are more than ids. */
  params?: Record<string, string>;
  /** Headers that the handler reads, by their names in lower case. */
  headers?: Record<string, z.ZodType>;
  /** Errors beyond those that follow from the rest of the declaration. */
  errors?: readonly ErrorCode[];
  /** Status of success. */
  status?: 200 | 201 | 302;
  /** What a good call is answered with, where that is JSON. */
  answer?: Shape;
  body?: z.ZodType<Body>;
  /** What the body is in full, where `body` leaves a part of it to the handler. */
  bodyShape?: z.ZodType;
  /** What the JSON of the body is. Default: an object. Where it is optional, none counts as an empty one. */
  bodyForm?: "object" | "array" | "optional";
  /** Fields of the body under which clients say the `{id}` of the path once more. They are no part of `body`. */
  repeatsId?: readonly string[];
  query?: z.ZodType<Query>;
  /** The type of a request's body whose bytes the handler itself reads, as they come and up to the usual size. */
  accepts?: "text/csv" | "message/rfc822" | "application/json";
  /** Under which other types the same may come. */
  acceptsToo?: readonly string[];
  /** Whatever body comes is not looked at, of any type: forms of browsers and of mail programs. */
  ignoresBody?: true;
  /** How the caller can send less where a body is too large. Default: that less has to be sent. */
  ifTooLarge?: string;
  /** The type of the answer where it is not JSON but a stream. Errors are JSON all the same. */
  answers?: string;
  /** Takes `Idempotency-Key`; the handler passes `once` on to the service that commits. */
  idempotent?: boolean;
  /** Whether a call with this query only asks what it would do: then no `Idempotency-Key` answers it or is used up by it. */
  isDryRun?(query: Query): boolean;
};

export type Call<C, Body, Query> = {
  ctx: C;
  body: Body;
  query: Query;
  params: Record<string, string>;
  once: Once | undefined;
  /** A header of the request, or null. */
  header: (name: string) => string | null;
  /** Only the headers of the answer are asked for: whatever counts calls must not count this one. */
  isHead: boolean;
  /** The IP address that the call came from; null where nobody tells. */
  address: string | null;
  /** What the limits said of this call. */
  verdict: Verdict;
  /** The bytes of the request where the declaration says what they are; else none. */
  bytes: AsyncIterable<Uint8Array>;
};

/** What a handler answers: the JSON body, with the declared status unless it names another. */
export type Answer<Reply = Record<string, unknown>> = { body: Reply; status?: number };

/** The same of a route that answers with a stream. It is read only as fast as the caller takes it, and not at all for HEAD. */
export type StreamAnswer = {
  stream: AsyncIterable<string | Uint8Array>;
  /** The name under which a browser keeps it. */
  filename: string;
  /** Where it differs from answer to answer. Default: what the declaration says. */
  contentType?: string;
};

/** The same of a route that people look at: a whole page of HTML, without scripts and with nothing from elsewhere. */
export type PageAnswer = { page: string };

/** The same of a route that answers with a small picture, of the declared type. */
export type ImageAnswer = { image: Uint8Array<ArrayBuffer> };

/** The same of a route that leads elsewhere: to an absolute address in ASCII. */
export type RedirectAnswer = { location: string };

/** What is no JSON. */
type OtherAnswer = StreamAnswer | PageAnswer | ImageAnswer | RedirectAnswer;

export type AnyAnswer = Answer | OtherAnswer;

type Handle = (call: Call<never, never, never>) => Promise<AnyAnswer>;

export type Route = Omit<Declaration<unknown, unknown, z.ZodType>, "status"> & {
  status: number;
  handle: Handle;
};

type ContextOf<A extends Access> = A extends { scope: Scope } ? Ctx : RestDeps;

/**
 * The only way to make a REST route. Who may call it and which bucket it consumes are required by type; everything
 * around the handler (identity, limits, parsing, idempotency, errors, headers) belongs to the pipeline in `dispatch`.
 */
export function withApi<
  A extends Access,
  Body = undefined,
  Query = undefined,
  Shape extends z.ZodType<Record<string, unknown>> = z.ZodType<Record<string, unknown>>,
>(
  declaration: Declaration<Body, Query, Shape> & { access: A } & ({ answer: Shape } | { answers: string }),
  handler: (call: Call<ContextOf<A>, Body, Query>) => Promise<Answer<z.output<Shape>> | OtherAnswer>,
): Route {
  return { status: 200, ...declaration, handle: handler as unknown as Handle };
}
